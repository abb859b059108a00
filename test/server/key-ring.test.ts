import { describe, expect, it, vi } from 'vitest'
import { readCursor, writeCursor } from '../../src/server/cursor.ts'
import { createServer, form, keyRing, type Server, type ServerOptions } from '../../src/server/index.ts'
import { seal, unseal } from '../../src/server/input/seal.ts'
import { fakeClock } from '../../src/testing/index.ts'
import type { HttpAnswer } from '../support/http-requests.ts'
import { askModern, callTool, serve } from '../support/http-service.ts'
import type { Message } from '../support/raw-channel.ts'

const OLD = 'old-secret-of-at-least-32-characters'
const NEW = 'new-secret-of-at-least-32-characters'

describe('a key ring from secrets', () => {
  it('opens what another ring with the same secret sealed', async () => {
    const sealed = await seal('text', 'binding', keyRing(OLD))
    expect(await unseal(sealed, 'binding', keyRing(OLD))).toEqual({ text: 'text' })
    expect(await unseal(sealed, 'binding', keyRing(new TextEncoder().encode(OLD)))).toEqual({ text: 'text' })
    expect(sealed).not.toContain(OLD.slice(0, 8))
    const cursor = await writeCursor('tools', { index: 3, mark: 7n }, keyRing(OLD))
    expect(await readCursor('tools', cursor, keyRing(OLD))).toEqual({ index: 3, mark: 7n })
  })

  it('seals with the first secret and opens with all, so that a secret can be replaced', async () => {
    const rings = { old: keyRing(OLD), adding: keyRing([OLD, NEW]), moving: keyRing([NEW, OLD]), done: keyRing([NEW, undefined]) }
    const open = async (by: keyof typeof rings, at: keyof typeof rings): Promise<boolean> =>
      'text' in (await unseal(await seal('text', 'b', rings[by]), 'b', rings[at]))
    expect(await Promise.all([open('old', 'adding'), open('adding', 'old'), open('adding', 'moving'), open('moving', 'adding')])).toEqual([
      true,
      true,
      true,
      true,
    ])
    expect(await Promise.all([open('moving', 'done'), open('done', 'moving'), open('old', 'moving')])).toEqual([true, true, true])
    expect(await open('old', 'done')).toBe(false)
    expect((await rings.moving.current()).id).toBe((await rings.done.current()).id)
  })

  it('refuses short and missing secrets', () => {
    for (const bad of [undefined, '', 'short', new Uint8Array(31), [], [undefined, OLD], [OLD, 'short']])
      expect(() => keyRing(bad)).toThrow('keyRing() needs secrets of at least 32 characters or bytes')
  })
})

describe('state that cannot be opened', () => {
  const ASK = { _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } } }

  function asking(options: Partial<ServerOptions> = {}): Server {
    const server = createServer({ name: 'ask', version: '1', ...options })
    server.tool('ask', { input: { type: 'object' } }, async (_args, ctx) => {
      const { name } = await ctx.ask({ name: form('Your name?', { type: 'object', properties: { name: { type: 'string' } } }) })
      return name.action
    })
    return server
  }

  const first = async (url: string): Promise<string> =>
    String(((await askModern(url, callTool('ask', {}, ASK))).message.result as Message).requestState)
  const next = (url: string, requestState: unknown, args: Message = {}): Promise<HttpAnswer> =>
    askModern(url, callTool('ask', args, { ...ASK, requestState, inputResponses: { name: { action: 'decline' } } }))

  it('continues a call on another replica that has the same secret', async () => {
    const [one, two] = [await serve(asking({ keys: keyRing(OLD) })), await serve(asking({ keys: keyRing([NEW, OLD]) }))]
    const { message } = await next(two.url, await first(one.url))
    expect(message.result).toMatchObject({ content: [{ text: 'decline' }] })
  })

  it('is refused by a server with another name that has the same secret, and the log says why', async () => {
    const lines: string[] = []
    vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
    const [staging, production, replica] = [
      await serve(asking({ name: 'staging', keys: keyRing(OLD) })),
      await serve(asking({ name: 'production', keys: keyRing(OLD) })),
      await serve(asking({ name: 'staging', version: '2', keys: keyRing(OLD) })),
    ]
    const state = await first(staging.url)
    expect((await next(production.url, state)).message.error).toMatchObject({ message: 'Invalid or expired requestState' })
    expect(lines).toEqual([expect.stringContaining('or to a server with another name')])
    expect((await next(replica.url, state)).message.result).toMatchObject({ content: [{ text: 'decline' }] })
  })

  it('is reported in the log with the reason, while the client learns nothing', async () => {
    const lines: string[] = []
    vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
    const [one, two] = [await serve(asking()), await serve(asking())]
    const state = await first(one.url)
    const answers = [
      await next(two.url, state),
      await next(one.url, state, { other: 'arguments' }),
      await next(one.url, 'nonsense'),
      await next(one.url, 7),
    ]
    expect(answers.map(({ message }) => (message.error as Message).message)).toEqual(Array(4).fill('Invalid or expired requestState'))
    const key = state.slice(0, state.lastIndexOf('.'))
    expect(lines[0]).toContain(`portico: The requestState of tools/call could not be opened: its key is "${key}", and this server uses "`)
    expect(lines[0]).toContain('give all replicas the same keys (keyRing)')
    expect(lines[1]).toContain('it was changed, or it belongs to another caller, method, target or arguments')
    expect(lines[2]).toContain('it is not in the form that this server gives out')
    expect(lines[3]).toContain('it is not text')
    expect(lines).toHaveLength(4)
  })

  it('is reported with the time since it expired', async () => {
    const errors: unknown[] = []
    const { url } = await serve(asking({ limits: { stateTtlMs: 1000 }, onError: (error) => errors.push(error) }))
    const state = await first(url)
    const now = Date.now() + 6500
    vi.spyOn(Date, 'now').mockReturnValue(now)
    await next(url, state)
    expect(String(errors[0])).toMatch(/it expired [56] s ago \(limits.stateTtlMs\)/)
  })

  it('is reported for a cursor of a replica with another key', async () => {
    const errors: [unknown, unknown][] = []
    const paged = (): Server => {
      const server = createServer({ name: 'p', version: '1', pageSize: 1, onError: (...report) => errors.push(report) })
      for (const name of ['a', 'b']) server.tool(name, {}, () => name)
      return server
    }
    const [one, two] = [await serve(paged()), await serve(paged())]
    const { nextCursor } = (await askModern(one.url, { method: 'tools/list' })).message.result as Message
    const { message } = await askModern(two.url, { method: 'tools/list', params: { cursor: nextCursor } })
    expect(message.error).toMatchObject({ code: -32602, message: 'Invalid cursor' })
    expect(String(errors[0]?.[0])).toContain('The cursor of tools/list could not be opened: its key is ')
    expect(errors[0]?.[1]).toEqual({ reference: '', method: 'tools/list', target: undefined })
  })

  it('is written to the log each time that onError fails', async () => {
    const lines: string[] = []
    vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line.split('\n')[0] as string))
    const onError = () => {
      throw new Error('The disk is full')
    }
    const { url } = await serve(asking({ onError }))
    for (let i = 0; i < 2; i++) await next(url, 'nonsense')
    const both = [
      expect.stringContaining('The requestState of tools/call could not be opened'),
      expect.stringMatching(/onError failed: .*full/),
    ]
    expect(lines).toEqual([...both, ...both])
  })

  it('is reported a few times a minute at most, with the number of the others', async () => {
    const clock = fakeClock()
    const errors: unknown[] = []
    const { url } = await serve(asking({ clock, onError: (error) => errors.push(error) }))
    for (let i = 0; i < 30; i++) await next(url, 'nonsense')
    expect(errors).toHaveLength(10)
    await clock.advance(10_000)
    await next(url, 'nonsense')
    expect(String(errors[10])).toContain('(and 20 more that were not reported)')
  })
})

it('secrets on several lines of one text are refused, with the call that is meant', () => {
  const advised = 'text.trim().split(/\\r?\\n/)'
  for (const end of ['\n', '\r\n']) {
    const text = `${'a'.repeat(32)}${end}${'b'.repeat(32)}${end}`
    expect(() => keyRing(text)).toThrow(`keyRing() needs one secret in each text, got one with line breaks: pass ${advised}`)
    expect(() => keyRing(text.trim().split(/\r?\n/))).not.toThrow()
  }
})
