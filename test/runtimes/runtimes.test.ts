/** The packed library on every runtime. `npm test` prints the table of what ran. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { chromiumOfFile } from '../support/chromium.ts'
import { temporaryFolders } from '../support/folders.ts'
import { INSTALL_MS } from '../support/packages.ts'
import { installRuntimes, PROGRAMS, workerd, wrangler } from './support/install.ts'
import { must, packInto } from './support/packed.ts'
import { type Outcome, record } from './support/record.ts'

/** What a minimal Worker may weigh, minified by wrangler, and compressed. */
const MAX_WORKER_KB = 266
const MAX_WORKER_GZIP_KB = 94
/** After this date workerd has the modules of Node without a flag. */
const COMPATIBILITY_DATE = '2026-07-01'
const TIMEOUT_MS = 180_000

const newFolder = temporaryFolders()
const chromium = chromiumOfFile()
let folder = ''

beforeAll(async () => {
  folder = newFolder()
  packInto(folder)
  await installRuntimes()
}, INSTALL_MS)

const ALL = { connect: true, call: true, progress: true, question: true, close: true }
const inBoth = (...transports: string[]): Record<string, typeof ALL> =>
  Object.fromEntries(transports.flatMap((name) => [`${name} 2025-11-25`, `${name} 2026-07-28`]).map((key) => [key, ALL]))

test.each(PROGRAMS)(
  '$name serves and calls over stdio and HTTP in both dialects',
  ({ name, command, args }) => {
    const { version, outcome } = JSON.parse(must(command, [...args, 'program.mjs'], folder))
    record(name.startsWith('Node') ? `Node ${version}` : `${name} ${version}`, withClient(outcome))
    expect(outcome).toEqual(inBoth('stdio', 'listen', 'httpHandler'))
  },
  TIMEOUT_MS,
)

/** These runtimes call their own servers. */
const withClient = (outcome: Outcome): Outcome => ({
  ...outcome,
  'client 2025-11-25': outcome['listen 2025-11-25'] ?? {},
  'client 2026-07-28': outcome['listen 2026-07-28'] ?? {},
})

/** Builds as `wrangler deploy` does. Returns the file. */
function buildWorker(name: string, flags: readonly string[]): string {
  const outdir = join(folder, ['out', name, ...flags].join('-'))
  const settings = ['--name', name, '--compatibility-date', COMPATIBILITY_DATE, ...flags.flatMap((flag) => ['--compatibility-flags', flag])]
  must(wrangler.command, [wrangler.file, 'deploy', '--dry-run', '--minify', ...settings, '--outdir', outdir, `${name}.mjs`], folder)
  return join(outdir, `${name}.js`)
}

test.each([{ flags: [] }, { flags: ['nodejs_compat'] }])(
  'wrangler builds a Worker with the flags $flags, and workerd runs it as a server and a client',
  ({ flags }) => {
    const file = buildWorker('worker', flags)
    expect(readFileSync(file, 'utf8')).not.toMatch(/from\s*"node:|import\("node:/)
    const { outcome, refusals } = JSON.parse(must(process.execPath, ['workerd.mjs', workerd, file, ...flags], folder))
    record(['workerd', ...flags].join(', '), outcome)
    expect(outcome).toEqual({
      ...inBoth('httpHandler', 'client'),
      'httpHandler 2025-11-25': { ...ALL, question: expect.stringContaining('this server keeps no sessions') },
    })
    expect(refusals).toEqual({
      sessions: expect.stringMatching(/^ERR_UNSUPPORTED: .* set sessions: false/),
      store: expect.stringMatching(/^ERR_UNSUPPORTED: .* set sessions: false/),
      metrics: expect.stringMatching(/^ERR_UNSUPPORTED: .* use onRequest/),
      listen: expect.stringMatching(/^ERR_UNSUPPORTED: listen\(\) needs Node, Bun or Deno.* use httpHandler\(\)/),
      skills: expect.stringMatching(/^ERR_UNSUPPORTED: server\.skills\(folder\) needs Node, Bun or Deno.* use server\.resource\(\)/),
      process: expect.stringMatching(/^ERR_UNSUPPORTED: .* connect to a URL$/),
    })
  },
  TIMEOUT_MS,
)

test(
  'a small Worker stays below its size, and contains nothing of undici',
  () => {
    const file = buildWorker('small-worker', [])
    const text = readFileSync(file, 'utf8')
    expect(text.length / 1000).toBeLessThan(MAX_WORKER_KB)
    expect(gzipSync(text).length / 1000).toBeLessThan(MAX_WORKER_GZIP_KB)
    expect(text).not.toContain('UND_ERR_CONNECT_TIMEOUT')
  },
  TIMEOUT_MS,
)

test(
  'a page in Chromium connects, calls, hears progress and answers a question in both dialects',
  async () => {
    const bundle = await build({
      entryPoints: [join(folder, 'page.mjs')],
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      logLevel: 'error',
    })
    const script = bundle.outputFiles[0]?.text ?? ''
    const pages = createServer((request, response) => {
      const isScript = request.url === '/page.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void pages.close())
    await once(pages, 'listening')
    const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
    const server = spawn(process.execPath, ['program.mjs', 'serve', origin], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void server.kill())
    const [url] = (await once(createInterface(server.stdout), 'line')) as [string]

    const page = await (await chromium()).newPage()
    await page.goto(origin)
    await page.waitForFunction('globalThis.useServer !== undefined')
    const outcome: Outcome = {}
    for (const revision of ['2025-11-25', '2026-07-28'])
      outcome[`client ${revision}`] = await page.evaluate(`useServer(${JSON.stringify(url)}, ${JSON.stringify(revision)})`)
    record('Chromium', outcome)
    expect(outcome).toEqual(inBoth('client'))
    await page.close()
  },
  TIMEOUT_MS,
)
