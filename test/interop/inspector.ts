/** The command line of the MCP Inspector with our server: one process a request, as in somebody's shell script. */

import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ListeningProcess } from '../support/listening-process.ts'
import type { Feature, Matrix, PeerName } from './matrix.ts'
import { endpointOf, type OurServerOptions, type Over, startOurServer } from './their-client.ts'

const launcher = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
)

interface InspectorRun {
  matrix: Matrix
  peer: PeerName & `inspector ${string}`
  era: 'legacy' | 'auto' | 'modern'
  over: Exclude<Over, 'stdio'>
  revision: string
  server?: OurServerOptions
}

interface Outcome {
  exitCode: number | null
  /** What it printed to standard output, or the error it printed beside. */
  result?: Record<string, unknown>
  error?: { code: string | number; message: string }
}

const FAILED = 1
const TOOL_FAILED = 5

/** What its command line has no word for, or does not show. */
const LACKING: readonly Feature[] = ['subscribe', 'completion', 'progress', 'cancel', 'elicit', 'url', 'sample', 'roots', 'list_changed']

export function describeInspector({ matrix, peer, era, over, revision, server: options = {} }: InspectorRun): void {
  describe(`our server and the ${peer}`, () => {
    let server: ListeningProcess
    let home: string
    beforeAll(async () => {
      server = await startOurServer(options)
      // It keeps a catalogue of servers at home.
      home = await mkdtemp(join(tmpdir(), 'portico-inspector-'))
    })
    afterAll(async () => {
      await server.stop()
      await rm(home, { recursive: true, force: true })
    })
    const testWorks = (feature: Feature, name: string, run: () => Promise<void>): void => matrix.testWorks(peer, feature, name, run)
    const run = (method: string, ...args: string[]): Promise<Outcome> =>
      inspect(home, [endpointOf(server, over).href, '--protocol-era', era, '--format', 'json', '-q', '--method', method, ...args])
    const call = (tool: string, args: object = {}): Promise<Outcome> =>
      run('tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args))

    test('our server and the inspector agree on the revision', async () => {
      expect(await run('initialize')).toMatchObject({
        exitCode: 0,
        result: { protocolVersion: revision, serverInfo: { name: 'everything' }, capabilities: { tools: { listChanged: true } } },
      })
    })

    testWorks('tools', 'tools are listed with schemas it finds nothing wrong with', async () => {
      const { exitCode, result } = await run('tools/list', '--strict')
      expect(exitCode).toBe(0)
      expect(result?.tools).toContainEqual(expect.objectContaining({ name: 'add', description: 'Adds two numbers' }))
    })

    testWorks('tools', 'text comes back unchanged, and a failing tool differs from a missing one', async () => {
      const text = 'Grüße, 世界 🌍\nzweite Zeile'
      const [echoed, failed, unknown] = await Promise.all([call('echo', { text }), call('test_error_handling'), call('nowhere')])
      expect(echoed).toMatchObject({ exitCode: 0, result: { content: [{ type: 'text', text }] } })
      expect(failed).toMatchObject({ exitCode: TOOL_FAILED, result: { isError: true } })
      // It looks into the list first, and does not call.
      expect(unknown.error).toMatchObject({ code: 'tool_not_found' })
    })

    testWorks('structured', 'structured output passes its own check', async () => {
      expect(await call('add', { a: 1, b: 2 })).toMatchObject({ exitCode: 0, result: { structuredContent: { sum: 3 } } })
    })

    testWorks('content kinds', 'images and resources arrive whole', async () => {
      expect(await call('test_multiple_content_types')).toMatchObject({
        exitCode: 0,
        result: { content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png' }, { type: 'resource' }] },
      })
    })

    testWorks('resources', 'resources and templates are listed and read', async () => {
      const [resources, templates, text] = await Promise.all([
        run('resources/list'),
        run('resources/templates/list'),
        run('resources/read', '--uri', 'test://template/123/data'),
      ])
      expect(resources.result?.resources).toContainEqual(expect.objectContaining({ uri: 'test://static-text' }))
      expect(templates.result?.resourceTemplates).toContainEqual(expect.objectContaining({ uriTemplate: 'test://template/{id}/data' }))
      expect(text.result?.contents).toEqual([expect.objectContaining({ uri: 'test://template/123/data', mimeType: 'application/json' })])
    })

    testWorks('prompts', 'prompts are listed and got', async () => {
      const [prompts, prompt] = await Promise.all([
        run('prompts/list'),
        run('prompts/get', '--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=x', 'arg2=y'),
      ])
      expect(prompts.result?.prompts).toContainEqual(expect.objectContaining({ name: 'test_simple_prompt' }))
      expect(prompt).toMatchObject({
        exitCode: 0,
        result: { messages: [{ content: { text: "Prompt with arguments: arg1='x', arg2='y'" } }] },
      })
    })

    if (revision < '2026-07-28') {
      testWorks('logging', 'the level of log messages is set', async () => {
        expect(await run('logging/setLevel', '--log-level', 'warning')).toMatchObject({ exitCode: 0 })
      })
    } else {
      matrix.testLacks(peer, 'logging', 'the level of log messages cannot be set where each request names its own', async () => {
        expect((await run('logging/setLevel', '--log-level', 'warning')).exitCode).toBe(FAILED)
      })
    }

    for (const feature of LACKING) {
      matrix.testLacks(peer, feature, `its command line has no ${feature}`, async () => {
        expect((await supported()).join()).not.toMatch(/complet|subscri|roots|sampling|elicit|ping/)
      })
    }

    let methods: Promise<string[]> | undefined
    const supported = (): Promise<string[]> => {
      methods ??= run('no/such/method').then(({ error }) => /methods: (.*)\.$/.exec(error?.message ?? '')![1]!.split(', '))
      return methods
    }
  })
}

async function inspect(home: string, args: readonly string[]): Promise<Outcome> {
  const child = spawn(process.execPath, [launcher, '--cli', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: home, USERPROFILE: home },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exitCode = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  const printed = (text: string): object => (text.trimStart().startsWith('{') ? (JSON.parse(text) as object) : {})
  return { exitCode, ...printed(stderr), ...printed(stdout) }
}
