import { expect, test } from 'vitest'
import { listen } from '../../../src/http/index.ts'
import { connect } from '../../../src/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { openSession, sessionServer } from './scripted-http.ts'

test.each(['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])(
  'a change right after the client listens is heard, over a stream that had still to open, in %s',
  async (revision) => {
    const server = createServer({ name: 'growing', version: '1.0.0' })
    server.tool('first', {}, () => '')
    const { url, close } = await listen(server, { port: 0, handleSignals: false })
    // Whether the stream opens in time is a race: once is not enough.
    for (let round = 0; round < 5; round++) {
      const client = await connect(url, { revisions: [revision] })
      let heard = 0
      await client.onChange('tools', () => heard++)
      server.tool(`more-${round}`, {}, () => '')
      await expect.poll(() => heard).toBe(1)
      await client.close()
    }
    await close()
  },
)

test('a client listens only when the stream is open', async () => {
  let open = (): void => {}
  const server = await sessionServer({
    GET: (_, answer) => {
      open = () => answer.events().notice('notifications/tools/list_changed')
    },
  })
  const { client } = await openSession(server)
  let heard = 0
  let isListening = false
  const listening = client
    .onChange('tools', () => heard++)
    .then(() => {
      isListening = true
    })
  await expect.poll(() => server.received.some(({ verb }) => verb === 'GET')).toBe(true)
  expect(isListening).toBe(false)
  open()
  await listening
  await expect.poll(() => heard).toBe(1)
  await client.close()
})

test('a stream that opens after the client went on without it counts as a change of every list', async () => {
  let open = (): void => {}
  const server = await sessionServer({
    GET: (_, answer) => {
      open = () => void answer.events()
    },
  })
  const { client } = await openSession(server)
  const heard: string[] = []
  for (const kind of ['tools', 'prompts', 'resources'] as const) await client.onChange(kind, () => heard.push(kind))
  expect(heard).toEqual([])
  open()
  await expect.poll(() => heard).toEqual(['tools', 'prompts', 'resources'])
  await client.close()
})

test('a client that is closed before its stream opens does not leave a listener waiting', async () => {
  const server = await sessionServer({ GET: () => {} })
  const { client } = await openSession(server)
  const listening = client.onChange('tools', () => {}).catch((error: unknown) => error)
  await client.close()
  await listening
})
