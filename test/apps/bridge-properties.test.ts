import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AppBridge, AppRefusal, type AppState } from '../../src/apps/index.ts'
import { fakeClock } from '../../src/testing/index.ts'

const STEPS = ['new', 'initializing', 'ready', 'ending', 'ended']
const initialize = {
  appInfo: { name: 'a', version: '1' },
  appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
  protocolVersion: '2026-01-26',
}
const text = { type: 'text', text: 'hi' }

/** Methods of the dialect with good and bad params, and anything else. */
const fromView = fc.oneof(
  fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.option(fc.oneof(fc.integer({ min: 1, max: 6 }), fc.constant('a')), { nil: undefined }),
    method: fc.constantFrom(
      'ui/initialize',
      'ui/notifications/initialized',
      'tools/call',
      'resources/read',
      'ui/open-link',
      'ui/message',
      'ui/update-model-context',
      'ui/request-display-mode',
      'ui/notifications/size-changed',
      'notifications/message',
      'notifications/cancelled',
      'ui/notifications/request-teardown',
      'ui/notifications/sandbox-resource-ready',
      'ping',
      'tools/list',
    ),
    params: fc.oneof(
      fc.constantFrom<unknown>(
        initialize,
        { name: 'roll', uri: 'note://1', url: 'https://example.com', role: 'user', content: [text], mode: 'fullscreen' },
        { requestId: 1 },
        { level: 'info', data: 1, width: 5 },
        undefined,
      ),
      fc.jsonValue(),
    ),
  }),
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.constantFrom(1, 2), result: fc.constant({}) }),
  fc.anything(),
)

const fromHost = fc.constantFrom('input', 'partial', 'result', 'cancelled', 'context', 'teardown', 'end', 'time', 'settle')

test('any order of messages leaves a defined state, and nothing is done without a decision', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof({ weight: 4, arbitrary: fromView }, fromHost), { maxLength: 60 }), async (events) => {
      const clock = fakeClock()
      const states: AppState[] = ['new']
      const sent: { id?: unknown; method?: string; result?: unknown; error?: unknown }[] = []
      const open = new Map<number, (isAllowed: boolean) => void>()
      let decisions = 0
      let done = 0
      let ends = 0
      /** A host that does something only after a decision, which may say no. */
      const decided = async (_params: object, signal: AbortSignal): Promise<never> => {
        const number = ++decisions
        const isAllowed = await new Promise<boolean>((resolve) => {
          open.set(number, resolve)
          signal.addEventListener('abort', () => resolve(false))
        })
        if (!isAllowed) throw new AppRefusal('no')
        done++
        return { content: [] } as never
      }
      const bridge = new AppBridge({
        send: (message) => {
          expect(bridge.state).not.toBe('ended')
          if ('method' in message) expect(['ready', 'ending']).toContain(bridge.state)
          sent.push(message)
        },
        handlers: {
          callTool: decided,
          readResource: decided,
          openLink: decided,
          sendMessage: decided,
          updateModelContext: decided,
          setDisplayMode: (mode) => mode,
          onState: (state) => void states.push(state),
          onEnd: () => void ends++,
        },
        info: { name: 'host', version: '1' },
        context: { availableDisplayModes: ['inline', 'fullscreen'] },
        clock,
      })
      let allowed = 0
      const act: Record<string, () => unknown> = {
        input: () => bridge.toolInput({ a: 1 }),
        partial: () => bridge.toolInputPartial({ a: 1 }),
        result: () => bridge.toolResult({ content: [] }),
        cancelled: () => bridge.toolCancelled('because'),
        context: () => bridge.changeContext({ theme: 'dark' }),
        teardown: () => bridge.teardown('over'),
        end: () => bridge.end('over'),
        time: () => clock.advance(600),
        settle: () => {
          for (const [number, resolve] of open) resolve(number % 2 === 0 && ++allowed > 0)
          open.clear()
        },
      }
      for (const event of events) {
        if (typeof event !== 'string') bridge.receive(event)
        else if (!(event in act)) bridge.receive(event)
        else
          try {
            act[event]?.()
          } catch (error) {
            expect((error as Error).message).toMatch(/^Wrong order/)
          }
        await Promise.resolve()
      }
      await new Promise((resolve) => setTimeout(resolve))
      // States only go forward, and the end is told once.
      const places = states.map((state) => STEPS.indexOf(state))
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b))
      expect(ends).toBe(bridge.state === 'ended' ? 1 : 0)
      expect(done).toBeLessThanOrEqual(allowed)
      const told = sent.map(({ method }) => method)
      expect(told.filter((method) => method === 'ui/notifications/tool-input').length).toBeLessThanOrEqual(1)
      const [input, result] = ['tool-input', 'tool-result'].map((name) => told.indexOf(`ui/notifications/${name}`)) as [number, number]
      if (result >= 0) expect(input).toBeGreaterThanOrEqual(0)
      if (result >= 0) expect(result).toBeGreaterThan(input)
      if (input >= 0) expect(told.lastIndexOf('ui/notifications/tool-input-partial')).toBeLessThan(input)
    }),
    { numRuns: 500 },
  )
})
