/** What the log of a server says of errors whose text a client chose, if the author gave no `onError`. */

import { format } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import { type Context, createServer, text } from '../../src/server/index.ts'
import { rawChannel } from '../support/raw-channel.ts'

const reports = vi.spyOn(console, 'error').mockReturnValue()
afterEach(() => void reports.mockClear())

const log = (): string => reports.mock.calls.map((call) => format(...call)).join('\n')
/** Whether a line begins with a text of the client, or controls the terminal. */
const isForged = (): boolean => /^2026/m.test(log()) || /\p{C}/u.test(log().replaceAll('\n', ''))
const FORGED = 'x\n2026-11-19 portico: forged line \u001b[2J\u009b31m'
const SHOWN = String.raw`x\n2026-11-19 portico: forged line \x1b[2J\x9b31m`

/** A session whose client answers every question with an error. */
async function refusing(options: { onError?: () => void } = {}) {
  const server = createServer({ name: 'notes', version: '1.0.0', ...options })
  const ask = async (ctx: Context): Promise<string> => {
    const messages = [{ role: 'user' as const, content: text('?') }]
    return (await ctx.sample('summary', { messages, maxTokens: 10 })).model
  }
  server.prompt('summary', {}, (_args, ctx) => ask(ctx))
  server.resource('note://{id}', { name: 'note' }, (_values, ctx) => ask(ctx))
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25', { sampling: {} })
  return async (method: string, params: object): Promise<void> => {
    const answer = raw.ask(method, params)
    const { id } = await raw.until((message) => message.method === 'sampling/createMessage')
    raw.send({ jsonrpc: '2.0', id, error: { code: -1, message: FORGED, data: { [FORGED]: FORGED } } })
    expect((await answer).error.message).toMatch(/^Internal error \(reference /)
  }
}

test.each([
  ['prompts/get', { name: 'summary' }, 'prompts/get summary'],
  ['resources/read', { uri: 'note://%c3%a4' }, 'resources/read note://%c3%a4'],
])('an error of the client in %s forges no line of the log and controls no terminal', async (method, params, what) => {
  const ask = await refusing()
  await ask(method, params)
  expect(log()).toMatch(new RegExp(`^portico: ${what} failed \\(reference [\\w-]+\\): RemoteError: `))
  expect(log()).toContain(`RemoteError: ${SHOWN}\n    at `)
  expect(isForged()).toBe(false)
})

test('neither does it if onError fails, too', async () => {
  const ask = await refusing({
    onError: () => {
      throw new Error(FORGED)
    },
  })
  await ask('prompts/get', { name: 'summary' })
  await expect.poll(log).toMatch(/^portico: onError failed: Error: x\\n/m)
  expect(isForged()).toBe(false)
})

test('a long URI leaves room for the reference', async () => {
  const ask = await refusing()
  await ask('resources/read', { uri: `note://${'a'.repeat(8000)}` })
  expect(log()).toMatch(/^portico: resources\/read note:\/\/a{1017} failed \(reference [\w-]+\): RemoteError: /)
})

test('a key that a client invents is shown as text', async () => {
  const server = createServer({ name: 'notes', version: '1.0.0', pageSize: 1 })
  for (const name of ['a', 'b']) server.tool(name, {}, () => name)
  const raw = rawChannel(server)
  await raw.initialize('2025-11-25')
  const { nextCursor } = (await raw.ask('tools/list')).result
  const cursor = `\u009b2J\n${nextCursor.slice(nextCursor.lastIndexOf('.'))}`
  expect(await raw.ask('tools/list', { cursor })).toMatchObject({ error: { code: -32602 } })
  expect(log()).toContain(String.raw`its key is "\x9b2J\n"`)
})
