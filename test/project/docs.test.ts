import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { transform } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
// @ts-expect-error a plain script without types
import { snippets as examples, pages, shownFiles } from '../../scripts/snippets.mjs'
import { DEFAULT_APP_LIMITS } from '../../src/apps/index.ts'
import { DEFAULT_OAUTH_LIMITS } from '../../src/auth/client/fetch-json.ts'
import { DEFAULT_FILE_STORE_LIMITS, DEFAULT_SAFE_FETCH_LIMITS } from '../../src/auth/index.ts'
import { DEFAULT_RESOURCE_SERVER_LIMITS } from '../../src/auth/server/limits.ts'
import { DEFAULT_CLIENT_LIMITS } from '../../src/client/limits.ts'
import { DEFAULT_FILES_LIMITS } from '../../src/demo/files/limits.ts'
import { DEFAULT_PIN_LIMITS } from '../../src/host/approval/pin-store.ts'
import { DEFAULT_CATALOG_LIMITS } from '../../src/host/catalog/catalog.ts'
import { DEFAULT_SEARCH_LIMITS } from '../../src/host/catalog/search.ts'
import { DEFAULT_CONFIG_LIMITS } from '../../src/host/config/limits.ts'
import { DEFAULT_INBOX_LIMITS, FIXED_INBOX_LIMITS } from '../../src/host/consent/ask/inbox-files.ts'
import { DEFAULT_GATE_LIMITS } from '../../src/host/consent/gate/gate.ts'
import { FIXED_PENDING_LIMITS } from '../../src/host/consent/gate/pending-questions.ts'
import { DEFAULT_GRANT_LIMITS } from '../../src/host/consent/grants/grant-store.ts'
import { DEFAULT_USAGE_LIMITS } from '../../src/host/consent/usage.ts'
import { DEFAULT_CONVERSATION_STORE_LIMITS } from '../../src/host/conversation/chat/conversation-store.ts'
import { DEFAULT_CHAT_LIMITS, FIXED_CHAT_LIMITS } from '../../src/host/conversation/chat/limits.ts'
import { DEFAULT_PROVENANCE_LIMITS } from '../../src/host/conversation/flow/provenance.ts'
import { DEFAULT_AI_SDK_LIMITS } from '../../src/host/language-models/ai-sdk.ts'
import { DEFAULT_HOST_LIMITS } from '../../src/host/options.ts'
import { DEFAULT_POLICY_LIMITS } from '../../src/host/policy/policy-schema.ts'
import { DEFAULT_ROOT_LIMITS } from '../../src/host/roots/root-registry.ts'
import { DEFAULT_BROKER_LIMITS, FIXED_BROKER_LIMITS } from '../../src/host/sampling/broker.ts'
import { DEFAULT_BUDGET_LIMITS } from '../../src/host/sampling/budget.ts'
import { DEFAULT_REDACTOR_LIMITS } from '../../src/host/secrets/redactor.ts'
import { DEFAULT_ENTRY_FILE_LIMITS } from '../../src/host/server-command/launch-context.ts'
import { FIXED_FLEET_LIMITS } from '../../src/host/servers/fleet.ts'
import { DEFAULT_SUPERVISION_LIMITS, FIXED_SUPERVISION_LIMITS } from '../../src/host/servers/limits.ts'
import { DEFAULT_AUDIT_LIMITS } from '../../src/host/storage/audit/log.ts'
import { DEFAULT_HTTP_CLIENT_LIMITS } from '../../src/http/client/options.ts'
import { FIXED_HTTP_LIMITS } from '../../src/http/server/fixed-limits.ts'
import { DEFAULT_HTTP_LIMITS } from '../../src/http/server/options.ts'
import { ERRORS, type ErrorCode } from '../../src/protocol/errors.ts'
import { DIALECT_NAMES } from '../../src/protocol/schema/dialect.ts'
import { DEFAULT_LIMITS } from '../../src/server/limits.ts'
import { DEFAULT_TASK_LIMITS } from '../../src/server/tasks/limits.ts'
import { DEFAULT_FILE_TASK_STORE_LIMITS } from '../../src/tasks/index.ts'
import { proves } from '../support/proves.ts'
import { ERROR_MEANINGS } from './error-meanings.ts'

const folder = `${root}/.cache/docs`

interface Snippet {
  page: string
  line: number
  file: string
  code: string
}

const snippets: Snippet[] = examples()

/** Each page has a folder of its own, as a reader has. What a host keeps in `.portico` is not seen on other pages. */
const folderOf = (page: string): string => `${folder}/${page.replaceAll(/\W/g, '-')}`

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  const files = shownFiles() as { page: string; path: string; content: string }[]
  // Other pages use the server of the README.
  const first = snippets.filter(({ page, file }) => page === 'README.md' && file === 'server.mjs')
  for (const page of pages as string[]) {
    mkdirSync(folderOf(page), { recursive: true })
    for (const { path, content } of files.filter((each) => each.page === page)) {
      mkdirSync(dirname(`${folderOf(page)}/${path}`), { recursive: true })
      writeFileSync(`${folderOf(page)}/${path}`, content)
    }
    // A snippet with a file name runs unchanged, because readers copy it into a file of that name.
    for (const { file, code } of [...first, ...snippets.filter((each) => each.page === page)]) {
      const script = code.includes(`// ${file}`) ? code : (await transform(code, { loader: 'ts', format: 'esm' })).code
      writeFileSync(`${folderOf(page)}/${file}`, script)
    }
  }
}, 120_000)

const last = new Map<string, Promise<unknown>>()

/** The examples of a page that keep data in `.portico` run one after the other, as a reader runs them. */
function inTurn<T>(page: string, act: () => Promise<T>): Promise<T> {
  if (!snippets.some((each) => each.page === page && each.code.includes("folder: '.portico'"))) return act()
  const turn = (last.get(page) ?? Promise.resolve()).then(act)
  last.set(page, turn)
  return turn
}

describe.concurrent('every example of the documentation runs', () => {
  test.each(snippets)('the example in $page line $line runs', async ({ page, file }: Snippet) => {
    const { code, output } = await inTurn(page, () => run(file, page))
    expect(code, output).toBe(0)
    const shown = expectedOutput(page, file)
    if (shown !== undefined) expect(output).toBe(shown)
  })
})

test('the examples of the README work, and a server with a tool that asks takes a dozen lines', async () => {
  proves('T-ARCH-014')
  const linesOf = (file: string): string[] => {
    const code = snippets.find((each) => each.file === file)?.code ?? ''
    return code.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//'))
  }
  expect(linesOf('server.mjs')).toHaveLength(6)
  const lines = linesOf('asking.mjs')
  expect(lines.length).toBeGreaterThan(5)
  expect(lines.length).toBeLessThanOrEqual(12)
  expect((await run('client.mjs')).output).toBe(
    "forecast - Forecast for a city\nasking the station\n2026-07-28 [ { type: 'text', text: 'Clear for 3 days in Paris' } ]\n",
  )
  expect((await run('test.mjs')).output).toBe("[ { type: 'text', text: 'Hello, Anna!' } ]\n[ { type: 'text', text: 'Hello, Anna!' } ]\n")
})

test('the same server can be a process of this machine or a service at a URL', async () => {
  proves('T-ARCH-013')
  expect((await run('http.mjs')).output).toBe("2026-07-28 [ { type: 'text', text: 'Hello!' } ]\n")
})

test('the first screen of the README says what Portico is and gives the commands', () => {
  const screen = readFileSync(`${root}/README.md`, 'utf8').split('\n').slice(0, 25).join('\n')
  expect(screen).toContain('The Model Context Protocol in TypeScript')
  for (const command of ['npm install portico zod', 'npx portico', 'npm start', 'npm test']) expect(screen).toContain(command)
})

test('the README links to the security features and to the duties of the application', () => {
  proves('T-HOST-023')
  expect(readFileSync(`${root}/README.md`, 'utf8')).toContain('(SECURITY.md)')
  const [, own = '', yours = ''] = readFileSync(`${root}/SECURITY.md`, 'utf8').split(/^## What .*$/m)
  expect(own.match(/^- /gm)?.length).toBeGreaterThan(5)
  for (const matter of ['tool', 'model', 'directory', 'claims', 'person']) expect(yours).toContain(matter)
})

test('the documentation names every dialect of JSON Schema that is understood', () => {
  proves('R-BASE-010')
  const page = readFileSync(`${root}/docs/revisions.md`, 'utf8')
  const said = /^JSON Schema dialects: (.*)/m.exec(page)?.[1] ?? ''
  expect(DIALECT_NAMES.length).toBeGreaterThan(3)
  for (const dialect of DIALECT_NAMES) expect(said).toContain(dialect)
})

test('every limit is documented: options in tables, fixed limits by name at the end', () => {
  const [options = '', fixed = ''] = readFileSync(`${root}/docs/limits.md`, 'utf8').split('\n## Fixed limits\n')
  const namesOf = (all: object[]): string[] => all.flatMap((limits) => Object.keys(limits))
  const optional = namesOf([
    DEFAULT_LIMITS,
    DEFAULT_TASK_LIMITS,
    DEFAULT_FILE_TASK_STORE_LIMITS,
    DEFAULT_APP_LIMITS,
    DEFAULT_CLIENT_LIMITS,
    DEFAULT_HTTP_LIMITS,
    DEFAULT_HTTP_CLIENT_LIMITS,
    DEFAULT_RESOURCE_SERVER_LIMITS,
    DEFAULT_OAUTH_LIMITS,
    DEFAULT_FILE_STORE_LIMITS,
    DEFAULT_SAFE_FETCH_LIMITS,
    DEFAULT_INBOX_LIMITS,
    DEFAULT_CHAT_LIMITS,
    DEFAULT_GATE_LIMITS,
    DEFAULT_AI_SDK_LIMITS,
    DEFAULT_HOST_LIMITS,
    DEFAULT_BROKER_LIMITS,
    DEFAULT_BUDGET_LIMITS,
    DEFAULT_SUPERVISION_LIMITS,
  ])
  for (const name of optional) expect(options).toContain(`| \`${name}\` |`)
  const constant = namesOf([
    FIXED_HTTP_LIMITS,
    FIXED_SUPERVISION_LIMITS,
    FIXED_FLEET_LIMITS,
    FIXED_PENDING_LIMITS,
    FIXED_INBOX_LIMITS,
    FIXED_CHAT_LIMITS,
    FIXED_BROKER_LIMITS,
    DEFAULT_ENTRY_FILE_LIMITS,
    DEFAULT_AUDIT_LIMITS,
    DEFAULT_CATALOG_LIMITS,
    DEFAULT_SEARCH_LIMITS,
    DEFAULT_CONFIG_LIMITS,
    DEFAULT_POLICY_LIMITS,
    DEFAULT_USAGE_LIMITS,
    DEFAULT_PROVENANCE_LIMITS,
    DEFAULT_GRANT_LIMITS,
    DEFAULT_PIN_LIMITS,
    DEFAULT_ROOT_LIMITS,
    DEFAULT_CONVERSATION_STORE_LIMITS,
    DEFAULT_REDACTOR_LIMITS,
    DEFAULT_FILES_LIMITS,
  ])
  for (const name of constant) expect(fixed).toContain(`\`${name}\``)
  const sectionOf = (title: string): string => options.split('\n## ').find((each) => each.startsWith(title)) ?? expect.unreachable(title)
  for (const name of namesOf([FIXED_HTTP_LIMITS])) expect(sectionOf('HTTP: ')).not.toContain(`| \`${name}\` |`)
  for (const name of namesOf([FIXED_SUPERVISION_LIMITS])) expect(sectionOf('Each server')).not.toContain(`| \`${name}\` |`)
})

test('the table of errors in the documentation is the table in the code', () => {
  const rows = Object.entries(ERRORS).map(([code, { rpc }]) => `| \`${code}\` | ${rpc} | ${ERROR_MEANINGS[code as ErrorCode]} |`)
  const page = [
    '# Errors',
    '',
    'An error on your side of the connection is an `McpError` with one of these codes. A server sends the JSON-RPC code of the same row to',
    "its client. An error that the peer reports is a `RemoteError` with the peer's JSON-RPC code.",
    '',
    '| code | JSON-RPC | when |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
  if (process.env.UPDATE_DOCS === '1') writeFileSync(`${root}/docs/errors.md`, page)
  expect(readFileSync(`${root}/docs/errors.md`, 'utf8')).toBe(page)
})

test('links between the pages are valid', () => {
  for (const page of [...pages, 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'ROUGH-EDGES.md']) {
    const text = readFileSync(`${root}/${page}`, 'utf8')
    const base = page.includes('/') ? 'docs/' : ''
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      expect(() => readFileSync(`${root}/${base}${target}`), `${page} -> ${target}`).not.toThrow()
  }
})

/** What a page shows after `$ node FILE`. */
function expectedOutput(page: string, file: string): string | undefined {
  const text = readFileSync(`${root}/${page}`, 'utf8')
  return text.split(`\`\`\`\n$ node ${file}\n`)[1]?.split('```')[0]
}

function run(file: string, page = 'README.md'): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file], { cwd: folderOf(page), stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (text) => {
      output += String(text)
    })
    child.stderr.on('data', (text) => {
      output += String(text)
    })
    child.on('close', (code) => resolve({ code, output }))
  })
}
