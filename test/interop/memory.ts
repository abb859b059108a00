/** Our client and the reference server that remembers. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { proves } from '../support/proves.ts'
import { testCapabilityLacks } from './absence.ts'
import type { Feature, Matrix } from './matrix.ts'
import { type Connected, connectOurClient, type ServerProcess, textOf } from './our-client.ts'

const PEER = 'memory'

export const memoryServer = (file: string): ServerProcess => ({
  args: [fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-memory/dist/index.js', import.meta.url))],
  env: { MEMORY_FILE_PATH: file },
})

interface Graph {
  entities: { name: string; entityType: string; observations: string[] }[]
  relations: { from: string; to: string; relationType: string }[]
}

const ADA = { name: 'Ada', entityType: 'person', observations: ['wrote a program'] }
const ENGINE = { name: 'Engine', entityType: 'machine', observations: [] }
const RELATION = { from: 'Ada', to: 'Engine', relationType: 'programs' }
const GRAPH = 'memory://knowledge-graph'

export function describeMemory(matrix: Matrix): void {
  describe('our client and the reference server memory', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-memory-'))
    const file = join(folder, 'memory.jsonl')
    let connected: Connected
    let client: Client
    let listsChanged = 0
    beforeAll(async () => {
      connected = await connectOurClient(memoryServer(file))
      client = connected.client
      await client.onChange('tools', () => listsChanged++)
      await client.onChange('resources', () => listsChanged++)
    })
    afterAll(async () => {
      await client.close()
      rmSync(folder, { recursive: true })
    })
    const testWorks = (feature: Feature, name: string, run: () => Promise<void>): void => matrix.testWorks(PEER, feature, name, run)
    const graph = async (name: string, args: Record<string, unknown> = {}): Promise<Graph | undefined> =>
      (await client.call<Graph>(name, args)).structuredContent

    test('our client and the reference server memory agree on the newest revision with a handshake', () => {
      expect(client.revision).toBe('2025-11-25')
      expect(client.server.info.name).toBe('memory-server')
    })

    testWorks('tools', 'its nine tools are listed', async () => {
      expect(await client.tools().all()).toHaveLength(9)
    })

    testWorks('tools', 'created entities are stored in the file', async () => {
      await client.call('create_entities', { entities: [ADA, ENGINE] })
      await client.call('create_relations', { relations: [RELATION] })
      expect(readFileSync(file, 'utf8')).toContain('"Engine"')
      expect(await client.call('add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] })).toMatchObject({
        isError: true,
      })
    })

    testWorks('structured', 'the graph is read, searched and opened as structured output', async () => {
      expect(await graph('read_graph')).toEqual({ entities: [ADA, ENGINE], relations: [RELATION] })
      expect((await graph('search_nodes', { query: 'program' }))?.entities).toEqual([ADA])
      expect((await graph('open_nodes', { names: ['Engine'] }))?.entities).toEqual([ENGINE])
    })

    testWorks('resources', 'the graph is a resource', async () => {
      expect(await client.resources().all()).toMatchObject([{ uri: GRAPH, name: 'knowledge-graph' }])
      const { contents } = await client.read(GRAPH)
      expect(JSON.parse(contents[0] && 'text' in contents[0] ? String(contents[0].text) : '')).toMatchObject({ relations: [RELATION] })
      expect(await client.resourceTemplates().all()).toEqual([])
    })

    testWorks('subscribe', 'a client that watches the graph is notified of changes and can read them', async () => {
      const watching = client.watch(GRAPH)
      const first = watching.next()
      await client.ping()
      await client.call('add_observations', { observations: [{ entityName: 'Engine', contents: ['is made of brass'] }] })
      expect((await first).value).toEqual({ uri: GRAPH })
      expect(JSON.stringify(await client.read(GRAPH))).toContain('is made of brass')
      await watching.return(undefined)
    })

    testWorks('tools', 'observations, relations and entities are deleted', async () => {
      await client.call('delete_observations', { deletions: [{ entityName: 'Engine', observations: ['is made of brass'] }] })
      await client.call('delete_relations', { relations: [RELATION] })
      expect(await graph('read_graph')).toEqual({ entities: [ADA, ENGINE], relations: [] })
      expect(await textOf(client, 'delete_entities', { entityNames: ['Ada', 'Engine'] })).toBe('Entities deleted successfully')
      expect(await graph('read_graph')).toEqual({ entities: [], relations: [] })
    })

    testWorks('cancel', 'a call given up at once is not answered, and the server lives on', async () => {
      const controller = new AbortController()
      const given = client.call('read_graph', {}, { signal: controller.signal })
      controller.abort()
      await expect(given).rejects.toMatchObject({ name: 'AbortError' })
      expect(await graph('read_graph')).toEqual({ entities: [], relations: [] })
      expect(connected.warnings).toEqual([])
    })

    matrix.testLacks(PEER, 'content kinds', 'its results are text and nothing else', async () => {
      const { content } = await client.call('read_graph')
      expect(content).toEqual([{ type: 'text', text: expect.any(String) }])
    })
    for (const feature of ['prompts', 'completion', 'logging'] as const) testCapabilityLacks(matrix, PEER, feature, () => client)
    matrix.testLacks(PEER, 'progress', 'it reports no progress to a call that asks for it', async () => {
      proves('T-PROG-015')
      let heard = 0
      await client.call('read_graph', {}, { onProgress: () => heard++ })
      expect(heard).toBe(0)
    })
    for (const [feature, kind] of [
      ['elicit', 'form'],
      ['url', 'page'],
      ['sample', 'model'],
      ['roots', 'root'],
    ] as const) {
      matrix.testLacks(PEER, feature, `none of its tools has asked for a ${kind}`, async () => {
        expect(connected.asked.items.filter((question) => question.kind === kind)).toEqual([])
      })
    }
    matrix.testLacks(PEER, 'list_changed', 'none of its lists has changed', async () => {
      expect(listsChanged).toBe(0)
    })
  })
}
