/** Tests that the console makes of calls: they compile under strict, pass against the same server, and contain no secret. */

import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import type { TestView } from '../../src/console/api.ts'
import type { GivenServer } from '../../src/host/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { listen } from '../../src/http/index.ts'
import { createServer } from '../../src/server/index.ts'
import { everythingServer, scriptedModel } from '../../src/testing/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { APPROVED, consoles, Page } from './pages.ts'

const opened = consoles()
const folders = temporaryFolders()
const ALL = { session: [...APPROVED, allow('start', { action: ['server.launch', 'server.connect'] })] }

/** A sample server as a process, as `npm start` runs it. */
const sample = (...args: string[]): GivenServer => ({
  transport: { type: 'stdio', command: process.execPath, args: [`${root}/dist/cli/index.js`, 'serve', ...args], env: {} },
  provenance: [],
  tier: 'trusted',
})

/** Yes to everything. A form is filled in. */
const answerTo = (action: string) => ({
  kind: 'allow' as const,
  scope: 'once' as const,
  ...(action === 'elicit.form' && { edited: { environment: 'staging', reason: 'a test' } }),
})

/** Writes the files into a folder of the package, compiles them under strict, and runs them. The output of what failed. */
async function tried(tests: readonly TestView[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const folder = `${root}/.cache/made-tests-${process.pid}`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const { file, text } of tests) writeFileSync(`${folder}/${file}`, text)
  const options = {
    extends: '../../tsconfig.json',
    compilerOptions: { paths: { portico: ['../../src/index.ts'], 'portico/*': ['../../src/*/index.ts'] } },
    include: ['*.ts'],
  }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(options))
  writeFileSync(`${folder}/vitest.config.ts`, 'export default {}')
  // Not in this thread: it may serve the server of the test.
  const run = (program: string, ...args: string[]): Promise<string> =>
    new Promise((resolve) =>
      execFile(
        process.execPath,
        [`${root}/node_modules/${program}`, ...args],
        { cwd: folder, env: { ...process.env, ...env } },
        (error, stdout, stderr) => resolve(error ? `${program}\n${stdout}${stderr}` : ''),
      ),
    )
  return (
    (await run('typescript/bin/tsc', '-p', 'tsconfig.json')) + (await run('vitest/vitest.mjs', 'run', '--root', folder, '--maxWorkers=1'))
  )
}

test('a call of a sample server becomes a test that compiles and passes', { timeout: 120_000 }, async () => {
  const { console, host, asker } = await opened({
    host: { servers: { notes: sample('notes', folders()), deploy: sample('deploy') }, policy: ALL },
  })
  await host.settled()
  const page = await Page.open(console)
  asker.listen({
    onAsked: ({ id, action }) => setImmediate(() => asker.answer(id, answerTo(action))),
    onEnded: () => {},
  })
  const tests: TestView[] = []
  for (const call of [
    { tool: 'notes__search', args: { query: 'it\'s \u202e "door" \\' } },
    { tool: 'notes__edit', args: { id: 'nothing', text: 'x' } },
    { tool: 'deploy__deploy', args: { service: 'api', environment: 'staging', version: '1.4.0' } },
  ]) {
    const { operation } = await page.get('POST /api/tools/call', call)
    expect(await page.ended(operation.id)).toMatchObject({ state: 'done' })
    tests.push(await page.get('POST /api/timeline/test', { operation: operation.id }))
  }
  expect(tests.map(({ file }) => file)).toEqual(['notes-search.test.ts', 'notes-edit.test.ts', 'deploy-deploy.test.ts'])
  expect(tests[0]?.text).toContain("from 'portico/testing'")
  expect(tests[0]?.text).not.toContain('\u202e')
  expect(await tried(tests)).toBe('')
})

test('tools, prompts and resources of a server in the program become tests, also with sampling', { timeout: 120_000 }, async () => {
  const service = everythingServer()
  onTestFinished(() => service.close())
  const { console, host, asker } = await opened({
    host: {
      servers: { everything: { transport: { type: 'memory', service }, provenance: [], tier: 'trusted' } },
      policy: ALL,
      model: scriptedModel(),
    },
  })
  asker.listen({ onAsked: ({ id }) => setImmediate(() => asker.answer(id, { kind: 'allow', scope: 'once' })), onEnded: () => {} })
  await host.settled()
  const page = await Page.open(console)
  const tests: TestView[] = []
  for (const [route, body] of [
    ['POST /api/tools/call', { tool: 'everything__test_sampling', args: { prompt: 'Hello' } }],
    ['POST /api/tools/call', { tool: 'everything__test_multiple_content_types' }],
    ['POST /api/prompts/get', { prompt: 'everything__test_simple_prompt' }],
    ['POST /api/resources/read', { uri: 'test://static-binary' }],
  ] as const) {
    const { operation } = await page.get(route, body)
    expect(await page.ended(operation.id)).toMatchObject({ state: 'done' })
    tests.push(await page.get('POST /api/timeline/test', { operation: operation.id }))
  }
  expect(tests[0]?.text).toContain('const samples: CreateMessageResult[] = ')
  const program = "import { everythingServer } from 'portico/testing'\n\nexport const server = everythingServer()\n"
  expect(await tried([...tests, { file: 'server.ts', text: program, secrets: [] }])).toBe('')
})

test('secrets of the server and of the arguments are named, and never in the test', { timeout: 120_000 }, async () => {
  const server = createServer({ name: 'vault', version: '1.0.0' })
  const input = { type: 'object', properties: { apiKey: { type: 'string' }, note: { type: 'string' } } } as const
  server.tool('check', { input }, ({ apiKey, note }) => ({ length: String(apiKey).length, note, token: 'tok-8f3a9c1e77d2' }))
  const listening = await listen(server, { port: 0, handleSignals: false })
  onTestFinished(async () => {
    await listening.close()
    await server.close()
  })
  const { console, host } = await opened({
    host: {
      servers: {
        vault: {
          transport: { type: 'http', url: listening.url, headers: { 'X-Api-Key': 'k-4455667788aabbcc' } },
          provenance: [],
          tier: 'trusted',
        },
      },
      policy: ALL,
    },
  })
  await host.settled()
  const page = await Page.open(console)
  await page.run('POST /api/tools/call', { tool: 'vault__check', args: { apiKey: 'abcd-efgh-ijkl-9', note: 'sk-abcdef1234567890abcdef' } })
  const { messages } = await page.get('GET /api/timeline?method=tools/call&kind=request')
  const made: TestView = await page.get('POST /api/timeline/test', { message: messages[0].seq })
  for (const secret of ['k-4455667788aabbcc', 'abcd-efgh-ijkl-9', 'sk-abcdef', 'tok-8f3a9c1e77d2']) expect(made.text).not.toContain(secret)
  expect(made.secrets).toEqual(['ARGUMENT_APIKEY', 'ARGUMENT_NOTE', 'HEADER_X_API_KEY'])
  expect(await tried([made])).toContain('Expected the environment variable')
  const env = { ARGUMENT_APIKEY: 'abcd-efgh-ijkl-9', ARGUMENT_NOTE: 'sk-abcdef1234567890abcdef', HEADER_X_API_KEY: 'k-4455667788aabbcc' }
  expect(await tried([made], env)).toBe('')
})

test('a message that is no answered call, and an unknown operation, say why there is no test', async () => {
  const { console } = await opened()
  const page = await Page.open(console)
  const { messages } = await page.get('GET /api/timeline?method=tools/list&kind=request')
  expect((await page.fails('POST /api/timeline/test', { body: { message: messages[0].seq } })).message).toMatch(
    /^Expected a request of tools\/call/,
  )
  expect((await page.fails('POST /api/timeline/test', { body: {} })).status).toBe(400)
  expect((await page.fails('POST /api/timeline/test', { body: { operation: 'nothing-here' } })).status).toBe(404)
  await page.run('POST /api/tools/call', { tool: 'notes__search', args: { query: 'x' } })
  await page.get('DELETE /api/timeline')
  expect((await page.fails('POST /api/timeline/test', { body: { message: 1 } })).status).toBe(404)
})
