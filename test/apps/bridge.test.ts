import { describe, expect, test } from 'vitest'
import { AppBridge, type AppBridgeOptions, type AppHandlers, AppRefusal, type HostMessage } from '../../src/apps/index.ts'
import { fakeClock } from '../../src/testing/index.ts'
import { proves } from '../support/proves.ts'

const INITIALIZE = { appInfo: { name: 'board', version: '1' }, appCapabilities: {}, protocolVersion: '2026-01-26' }
const RESULT = { content: [{ type: 'text' as const, text: 'done' }] }

type Sent = { id?: unknown; method?: string; params?: unknown; result?: Record<string, unknown>; error?: { code: number; message: string } }

function newBridge(handlers: AppHandlers = {}, options: Partial<AppBridgeOptions> = {}) {
  const sent: Sent[] = []
  const ended: string[] = []
  const clock = fakeClock()
  const bridge = new AppBridge({
    send: (message: HostMessage) => void sent.push(message as Sent),
    handlers: { onEnd: (reason) => void ended.push(reason), ...handlers },
    info: { name: 'test host', version: '1' },
    clock,
    ...options,
  })
  let nextId = 100
  const notify = (method: string, params: object = {}): void => bridge.receive({ jsonrpc: '2.0', method, params })
  const ask = async (method: string, params: unknown = {}, id: unknown = nextId++): Promise<Sent | undefined> => {
    bridge.receive({ jsonrpc: '2.0', id, method, params })
    await new Promise((resolve) => setTimeout(resolve))
    return sent.findLast((message) => message.id === id && message.method === undefined)
  }
  const start = async (appCapabilities: object = {}): Promise<Sent | undefined> => {
    const answer = await ask('ui/initialize', { ...INITIALIZE, appCapabilities })
    notify('ui/notifications/initialized')
    return answer
  }
  return { bridge, sent, ended, clock, notify, ask, start }
}

describe('the beginning of a view', () => {
  test('the view learns the host, what it offers and its surroundings', async () => {
    proves('R-APP-017', 'R-APP-018', 'R-APP-023')
    const context = { theme: 'dark' as const, displayMode: 'inline' as const, containerDimensions: { width: 400, maxHeight: 600 } }
    const sandbox = { csp: { connectDomains: ['https://api.example.com'] } }
    const { start } = newBridge({ callTool: async () => RESULT, openLink: async () => {}, onLog: () => {} }, { context, sandbox })
    const answer = await start()
    expect(answer?.result).toEqual({
      protocolVersion: '2026-01-26',
      hostInfo: { name: 'test host', version: '1' },
      hostCapabilities: { serverTools: {}, openLinks: {}, logging: {}, sandbox },
      hostContext: context,
    })
  })

  test('nothing is sent to the view before it says that it is initialized', async () => {
    proves('R-APP-015', 'R-APP-024', 'R-APP-025')
    const { bridge, sent, ask, notify } = newBridge()
    bridge.toolInputPartial({ city: 'O' })
    bridge.toolInput({ city: 'Oslo' })
    bridge.toolResult(RESULT)
    bridge.changeContext({ theme: 'dark' })
    expect(sent).toEqual([])
    const answer = await ask('ui/initialize', INITIALIZE)
    expect(answer?.result?.hostContext).toEqual({ theme: 'dark' })
    bridge.changeContext({ theme: 'light' })
    expect(sent).toHaveLength(1)
    notify('ui/notifications/initialized')
    expect(sent.slice(1).map(({ method, params }) => [method, params])).toEqual([
      ['ui/notifications/host-context-changed', { theme: 'light' }],
      ['ui/notifications/tool-input', { arguments: { city: 'Oslo' } }],
      ['ui/notifications/tool-result', RESULT],
    ])
  })

  test('only ping and initialize are answered before, and initialize only once', async () => {
    const { bridge, ask, start } = newBridge({ callTool: async () => RESULT })
    expect((await ask('ping'))?.result).toEqual({})
    expect((await ask('tools/call', { name: 'a' }))?.error).toMatchObject({ code: -32600 })
    expect((await ask('ui/initialize', { appInfo: { name: 'x', version: '1' }, protocolVersion: '2026-01-26' }))?.error?.code).toBe(-32602)
    expect(bridge.state).toBe('new')
    await start()
    expect(bridge.state).toBe('ready')
    expect((await ask('ui/initialize', INITIALIZE))?.error).toEqual({ code: -32600, message: 'The view is initialized already' })
    expect((await ask('tools/call', { name: 'a' }))?.result).toEqual(RESULT)
  })
})

describe('what a view learns of its call', () => {
  test('partial arguments end with the complete ones, and a result needs arguments', async () => {
    proves('R-APP-024', 'R-APP-025')
    const { bridge, sent, start } = newBridge()
    await start()
    bridge.toolInputPartial({ city: 'O' })
    bridge.toolInputPartial({ city: 'Os' })
    expect(() => bridge.toolResult(RESULT)).toThrow('after its arguments')
    bridge.toolInput({ city: 'Oslo' })
    bridge.toolInputPartial({ city: 'Oslo!' })
    expect(() => bridge.toolInput({})).toThrow('once')
    bridge.toolResult(RESULT)
    expect(() => bridge.toolResult(RESULT)).toThrow('once')
    expect(() => bridge.toolCancelled()).toThrow('ended already')
    expect(sent.slice(1).map(({ method }) => method?.replace('ui/notifications/', ''))).toEqual([
      'tool-input-partial',
      'tool-input-partial',
      'tool-input',
      'tool-result',
    ])
  })

  test('a cancelled call is told with its reason', async () => {
    proves('R-APP-025')
    const { bridge, sent, start } = newBridge()
    bridge.toolCancelled('you said no')
    await start()
    expect(sent.at(-1)).toMatchObject({ method: 'ui/notifications/tool-cancelled', params: { reason: 'you said no' } })
  })
})

describe('requests of a view', () => {
  test('each goes to its handler with checked params', async () => {
    proves('R-APP-023')
    const got: unknown[] = []
    const take = async (params: object): Promise<void> => void got.push(params)
    const { ask, start } = newBridge({
      callTool: async (params) => {
        got.push(params)
        return RESULT
      },
      readResource: async (params) => {
        got.push(params)
        return { contents: [] }
      },
      openLink: take,
      sendMessage: take,
      updateModelContext: take,
    })
    await start()
    const text = { type: 'text', text: 'hi' }
    expect((await ask('tools/call', { name: 'roll', arguments: { dice: 2 } }))?.result).toEqual(RESULT)
    expect((await ask('resources/read', { uri: 'note://1' }))?.result).toEqual({ contents: [] })
    expect((await ask('ui/open-link', { url: 'https://example.com' }))?.result).toEqual({})
    expect((await ask('ui/message', { role: 'user', content: text }))?.result).toEqual({})
    expect((await ask('ui/message', { role: 'user', content: [text] }))?.result).toEqual({})
    expect((await ask('ui/update-model-context', { structuredContent: { a: 1 }, other: 1 }))?.result).toEqual({})
    expect(got).toEqual([
      { name: 'roll', arguments: { dice: 2 } },
      { uri: 'note://1' },
      { url: 'https://example.com' },
      { role: 'user', content: [text] },
      { role: 'user', content: [text] },
      { structuredContent: { a: 1 } },
    ])
  })

  test.each<[string, unknown]>([
    ['tools/call', { name: 5 }],
    ['tools/call', { name: 'a', arguments: [] }],
    ['resources/read', {}],
    ['ui/open-link', { url: 'x'.repeat(10_000) }],
    ['ui/message', { role: 'assistant', content: { type: 'text', text: 'hi' } }],
    ['ui/message', { role: 'user', content: [] }],
    ['ui/message', { role: 'user', content: [{ type: 'text' }] }],
    ['ui/update-model-context', { content: 'text' }],
    ['ui/request-display-mode', { mode: 'cinema' }],
    ['tools/call', [1]],
  ])('params of the wrong form are refused: %s %j', async (method, params) => {
    const never = (): never => {
      throw new Error('reached')
    }
    const { ask, start } = newBridge({
      callTool: never,
      readResource: never,
      openLink: never,
      sendMessage: never,
      updateModelContext: never,
    })
    await start()
    expect((await ask(method, params))?.error?.code).toBe(-32602)
  })

  test('other methods, and methods without a handler, do not exist', async () => {
    const { ask, start } = newBridge()
    await start()
    for (const method of ['tools/call', 'ui/open-link', 'sampling/createMessage', 'tools/list', 'constructor', 'ui/download-file'])
      expect((await ask(method, { name: 'a', url: 'https://a.b' }))?.error?.code).toBe(-32601)
  })

  test('a refusal says only that it was refused, and many in a row end the questions', async () => {
    let asked = 0
    const openLink = async (): Promise<void> => {
      asked++
      throw new AppRefusal('It was not allowed')
    }
    const { ask, start } = newBridge({ openLink }, { limits: { maxRefusals: 3 } })
    await start()
    for (let i = 0; i < 3; i++)
      expect((await ask('ui/open-link', { url: 'https://a.b' }))?.error).toEqual({ code: -32000, message: 'It was not allowed' })
    expect((await ask('ui/open-link', { url: 'https://a.b' }))?.error?.message).toContain('maxRefusals')
    expect(asked).toBe(3)
  })

  test('requests without a question do not take refusals back, and cancelled questions count as refusals', async () => {
    let asked = 0
    const openLink = async (_params: unknown, signal: AbortSignal): Promise<void> => {
      if (++asked < 3) throw new AppRefusal('It was not allowed')
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const { ask, notify, start } = newBridge({ openLink, updateModelContext: async () => {} }, { limits: { maxRefusals: 3 } })
    await start()
    for (const id of [51, 52, 53]) {
      await ask('ui/open-link', { url: 'https://a.b' }, id)
      notify('notifications/cancelled', { requestId: id })
      expect((await ask('ui/update-model-context', { content: [] }))?.error?.message ?? 'done').toMatch(/^done$|maxRefusals/)
    }
    expect((await ask('ui/open-link', { url: 'https://a.b' }))?.error?.message).toContain('maxRefusals')
    expect(asked).toBe(3)
  })

  test('a cancelled request is aborted and not answered', async () => {
    let signal: AbortSignal | undefined
    const callTool: AppHandlers['callTool'] = (_params, given) => {
      signal = given
      return new Promise((resolve) => given.addEventListener('abort', () => resolve(RESULT)))
    }
    const { ask, notify, start, sent } = newBridge({ callTool })
    await start()
    expect(await ask('tools/call', { name: 'slow' }, 7)).toBeUndefined()
    expect((await ask('tools/call', { name: 'slow' }, 7))?.error?.message).toBe('Another request with this id is not answered yet')
    const before = sent.length
    notify('notifications/cancelled', { requestId: 7 })
    await new Promise((resolve) => setTimeout(resolve))
    expect(signal?.aborted).toBe(true)
    expect(sent).toHaveLength(before)
  })
})

describe('display modes and sizes', () => {
  test('the mode changes only to one that both sides declared, and the answer is the mode that results', async () => {
    proves('R-APP-021', 'R-APP-022')
    const context = { displayMode: 'inline' as const, availableDisplayModes: ['inline' as const, 'fullscreen' as const] }
    const switched: string[] = []
    const { bridge, ask, start } = newBridge({ setDisplayMode: (mode) => (switched.push(mode) > 0 ? mode : 'inline') }, { context })
    await start({ availableDisplayModes: ['inline', 'fullscreen', 'pip', 'cinema'] })
    expect((await ask('ui/request-display-mode', { mode: 'pip' }))?.result).toEqual({ mode: 'inline' })
    expect((await ask('ui/request-display-mode', { mode: 'fullscreen' }))?.result).toEqual({ mode: 'fullscreen' })
    expect(switched).toEqual(['fullscreen'])
    expect(bridge.context.displayMode).toBe('fullscreen')
    const other = newBridge({ setDisplayMode: () => 'fullscreen' }, { context })
    await other.start({ availableDisplayModes: ['inline'] })
    expect((await other.ask('ui/request-display-mode', { mode: 'fullscreen' }))?.result).toEqual({ mode: 'inline' })
    expect(() => other.bridge.changeContext({ displayMode: 'fullscreen' })).toThrow('does not support the display mode fullscreen')
  })

  test('sizes are whole numbers within bounds', async () => {
    proves('R-APP-019')
    const sizes: object[] = []
    const { notify, start } = newBridge({ onSize: (size) => void sizes.push(size) })
    await start()
    for (const size of [{ width: 300.2, height: 40 }, { height: 1e12 }, { height: -1 }, { height: 'tall' }, {}])
      notify('ui/notifications/size-changed', size)
    expect(sizes).toEqual([{ width: 301, height: 40 }, { height: 100_000 }])
  })
})

describe('the end of a view', () => {
  test('the view may finish before it is removed', async () => {
    proves('R-APP-027')
    const { bridge, sent, ended, start } = newBridge()
    await start()
    const done = bridge.teardown('closed by you')
    expect(sent.at(-1)).toEqual({ jsonrpc: '2.0', id: 1, method: 'ui/resource-teardown', params: { reason: 'closed by you' } })
    expect(bridge.state).toBe('ending')
    bridge.receive({ jsonrpc: '2.0', id: 99, result: {} })
    expect(bridge.state).toBe('ending')
    bridge.receive({ jsonrpc: '2.0', id: 1, result: {} })
    await done
    expect([bridge.state, ended]).toEqual(['ended', ['It finished']])
  })

  test('a view that does not answer is removed anyway', async () => {
    const { bridge, clock, ended, start } = newBridge()
    await start()
    const done = bridge.teardown('closed by you')
    clock.advance(1_000)
    await done
    expect(ended).toEqual(['closed by you'])
  })

  test('a view that is not ready ends without a message', async () => {
    const { bridge, sent } = newBridge()
    await bridge.teardown('closed')
    expect([bridge.state, sent]).toEqual(['ended', []])
  })

  test('a view can ask to be closed', async () => {
    let isWanted = false
    const { notify, start } = newBridge({
      onCloseWanted: () => {
        isWanted = true
      },
    })
    await start()
    notify('ui/notifications/request-teardown')
    expect(isWanted).toBe(true)
  })
})

describe('the limits of a view', () => {
  test('a view that floods its host is closed, and its requests are cancelled', async () => {
    let signal: AbortSignal | undefined
    const callTool: AppHandlers['callTool'] = (_params, given) => {
      signal = given
      return new Promise(() => {})
    }
    const { bridge, notify, ask, start, ended, sent } = newBridge({ callTool }, { limits: { messageBurst: 20, messagesPerSecond: 10 } })
    await start()
    await ask('tools/call', { name: 'slow' })
    for (let i = 0; i < 30; i++) notify('notifications/message', { level: 'info', data: i })
    expect(bridge.state).toBe('ended')
    expect(signal?.aborted).toBe(true)
    expect(ended).toEqual(['It sent more than 10 messages a second (messagesPerSecond)'])
    const before = sent.length
    await ask('ping')
    expect(sent).toHaveLength(before)
  })

  test('giant messages, and messages that are no JSON, are refused or dropped', async () => {
    const logs: unknown[] = []
    const { bridge, ask, notify, start, sent } = newBridge({ onLog: (log) => void logs.push(log), callTool: async () => RESULT })
    await start()
    const cycle: Record<string, unknown> = {}
    cycle.cycle = cycle
    for (const huge of ['x'.repeat(2 * 1024 * 1024), new Array(2_000_000), cycle, new Map(), 5n])
      expect((await ask('tools/call', { name: 'a', arguments: { huge } }))?.error?.message).toContain('maxMessageChars')
    notify('notifications/message', { level: 'info', data: 'x'.repeat(20_000) })
    notify('notifications/message', { level: 'loud', data: 'x' })
    const before = sent.length
    for (const other of [null, 5, 'text', [], {}, { jsonrpc: '1.0', id: 1, method: 'ping' }, { jsonrpc: '2.0', id: {}, method: 'ping' }])
      bridge.receive(other)
    bridge.receive({ jsonrpc: '2.0', id: 5, method: 'ui/notifications/sandbox-resource-ready', params: { html: '' } })
    expect(sent).toHaveLength(before)
    expect(logs).toEqual([])
  })

  test('requests that wait are bounded, and so is the text for the model', async () => {
    const wait = () => new Promise<never>(() => {})
    const { ask, start } = newBridge({ callTool: wait, sendMessage: async () => {} }, { limits: { maxPending: 2, maxContextChars: 100 } })
    await start()
    const long = { role: 'user', content: { type: 'text', text: 'x'.repeat(200) } }
    expect((await ask('ui/message', long))?.error?.message).toContain('maxContextChars')
    for (let i = 0; i < 2; i++) expect(await ask('tools/call', { name: 'slow' })).toBeUndefined()
    expect((await ask('tools/call', { name: 'slow' }))?.error?.message).toContain('maxPending')
  })
})
