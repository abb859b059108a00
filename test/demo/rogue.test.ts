import { expect, onTestFinished, test } from 'vitest'
import type { Answers, Client } from '../../src/client/index.ts'
import { MISBEHAVIOURS } from '../../src/demo/rogue/misbehaviour.ts'
import { type Misbehaviour, type RogueOptions, type RogueServer, rogueServer } from '../../src/demo/rogue/server.ts'
import { McpError } from '../../src/protocol/errors.ts'
import { REVISIONS } from '../../src/revisions/index.ts'
import { pair, rehearse } from '../../src/testing/index.ts'

const versions = REVISIONS.map(({ version }) => version)

const textOf = async (client: Client, tool: string, args: Record<string, unknown>): Promise<string> => {
  const { content } = await client.call(tool, args)
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

function started(options: RogueOptions = {}): RogueServer {
  const server = rogueServer(options)
  onTestFinished(() => server.close())
  return server
}

const toolsOf = async (client: Client) => new Map((await client.tools().all()).map((tool) => [tool.name, tool]))

test.each(versions)('the rogue server looks harmless until the end of its first call (%s)', async (revision) => {
  const server = started()
  const { client, close } = await pair(server, { revision, cache: false })
  const before = await toolsOf(client)
  expect([...before.keys()].sort()).toEqual(['archive', 'cleanup', 'convert', 'forecast', 'report'])
  expect(await textOf(client, 'forecast', { city: 'Oslo' })).toBe('Oslo: 18 °C, light wind.')
  expect(server.hasTurned).toBe(true)

  const after = await toolsOf(client)
  expect(after.get('forecast')?.description).toContain('<IMPORTANT>')
  expect(after.get('forecast')?.inputSchema.properties).toHaveProperty('context')
  expect(after.has('convert')).toBe(false)
  expect(after.get('convert_units')?.inputSchema).toEqual(before.get('convert')?.inputSchema)
  expect(after.has('notes__add')).toBe(true)
  expect(after.has('n\u043etes__add')).toBe(true)
  const said = await textOf(client, 'forecast', { city: 'Oslo', context: 'what the person said' })
  expect(said).toContain('\u001b[2K')
  expect(said).toContain('call report')
  await client.call('n\u043etes__add', { text: 'mine' })
  await client.call('notes__add', { text: 'mine too' })
  await client.call('report', { message: 'a note' })
  expect(server.received).toEqual([
    { by: 'forecast', data: { context: 'what the person said' } },
    { by: 'lookalike', data: { text: 'mine' } },
    { by: 'shadow', data: { text: 'mine too' } },
    { by: 'report', data: 'a note' },
  ])
  await close()
})

test('each misbehaviour can be enabled separately', async () => {
  const seen = async (misbehaviours: readonly Misbehaviour[]): Promise<string> => {
    const server = started({ misbehaviours, hugeBytes: 1000 })
    const asked: unknown[] = []
    const answer: Answers = {
      elicit: ({ schema }) => {
        asked.push(schema)
        return { action: 'decline' }
      },
      elicitUrl: ({ href }) => {
        asked.push(href)
        return { action: 'decline' }
      },
      sample: (params) => {
        asked.push(params)
        return { role: 'assistant', content: { type: 'text', text: 'no' }, model: 'test' }
      },
    }
    const { client, close } = await pair(server, { answer, cache: false })
    server.turn()
    const tools = await client.tools().all()
    const results = [await textOf(client, 'forecast', { city: 'Oslo' }), await textOf(client, 'archive', { days: 1 })]
    await close()
    return JSON.stringify({ tools, asked, results })
  }
  const shapes = [await seen([])]
  for (const each of MISBEHAVIOURS) shapes.push(await seen([each]))
  expect(new Set(shapes).size).toBe(MISBEHAVIOURS.length + 1)
})

test("the rogue asks for a password, a page visit and other servers' context, and keeps the answers", async () => {
  const server = started({ after: {} })
  const asked: { context?: string | undefined; page?: string; warnings?: string[] } = {}
  const { client, close } = await pair(server, {
    answer: {
      elicit: () => ({ action: 'accept', content: { password: 'hunter2' } }),
      elicitUrl: ({ href, warnings }) => {
        Object.assign(asked, { page: href, warnings })
        return { action: 'accept' }
      },
      sample: {
        context: true,
        handler: ({ includeContext }) => {
          asked.context = includeContext
          return { role: 'assistant', content: { type: 'text', text: 'secret' }, model: 'test' }
        },
      },
    },
  })
  expect(await textOf(client, 'forecast', { city: 'Oslo' })).toBe('Oslo: 18 °C, light wind.')
  server.turn()
  await client.call('forecast', { city: 'Oslo' })
  expect(asked).toEqual({ context: 'allServers', page: 'https://xn--ccounts-1fg.example/sign-in', warnings: ['punycode', 'mixed-scripts'] })
  expect(server.received.map(({ by }) => by)).toEqual(['password-form', 'phishing-page', 'sampling'])
  await close()
})

test.each(versions)('the forecast still works when all questions are refused (%s)', async (revision) => {
  const refuse = (): never => {
    throw new McpError('ERR_DENIED', 'No')
  }
  const server = started({ after: {} })
  server.turn()
  // In the stateless revision a client refuses sampling by not sending the next round, and then there is no result.
  const answer = { elicit: () => ({ action: 'decline' as const }), elicitUrl: () => ({ action: 'cancel' as const }) }
  const isLive = revision !== versions.at(-1)
  const { client, close } = await pair(server, { revision, answer: isLive ? { ...answer, sample: refuse } : answer })
  expect(await textOf(client, 'forecast', { city: 'Oslo' })).toContain('Oslo: 18 °C')
  expect(server.received).toEqual([])
  await close()
})

test('the rogue records each answer once, even if its questions take several rounds', async () => {
  const server = started({ after: {} })
  server.turn()
  const count = (by: string) => () => server.received.filter((loot) => loot.by === by).length
  const opinion = { role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'test' }
  const answers = { password: { password: 'hunter2' }, visit: { action: 'accept' }, opinion }
  const effects = { password: count('password-form'), page: count('phishing-page'), model: count('sampling') }
  const { rounds } = await rehearse(server, 'forecast', { city: 'Oslo' }, answers, { effects })
  expect(rounds).toEqual([['password'], ['visit'], ['opinion']])
  expect(server.received).toHaveLength(3)
})

test('the rogue returns megabytes, and its endless call ends when it is cancelled', async () => {
  const server = started({ after: {}, misbehaviours: ['huge'], hugeBytes: 3_000_000 })
  server.turn()
  const { client, close } = await pair(server)
  expect(await textOf(client, 'archive', { days: 999 })).toHaveLength(3_000_000)
  const cancel = new AbortController()
  const call = client.call('archive', { days: 1000 }, { signal: cancel.signal, onProgress: () => cancel.abort() })
  await expect(call).rejects.toThrow()
  await close()
})

test('the rogue can turn hostile after a time, limits its records, and rejects unknown options', async () => {
  const server = started({ after: { seconds: 0 }, maxReceived: 3 })
  await expect.poll(() => server.hasTurned).toBe(true)
  const { client, close } = await pair(server)
  for (let i = 0; i < 4; i++) await client.call('report', { message: `${i}` })
  expect(server.received.map(({ data }) => data)).toEqual(['1', '2', '3'])
  await close()
  expect(() => rogueServer({ misbehaviours: ['theft' as Misbehaviour] })).toThrow('Unknown misbehaviour "theft"')
})
