import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listen } from '../../src/http/index.ts'
import { everythingServer } from '../../src/testing/everything.ts'
import { differences } from '../../src/testing/transcript/difference.ts'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico, serve } from './support/cli.ts'
import { KEY, startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()
const everything = serve('everything')

/** What starts portico as a server, for use after `--`. */
const itself = (...args: string[]): string[] => ['--', process.execPath, CLI, ...args]

/** Calls a tool through a recorder, and gives the file. */
async function recorded(call: readonly string[], ...options: string[]): Promise<string> {
  const file = join(newFolder(), 'exchange.jsonl')
  const { code, stderr } = await portico(['call', ...options, ...call, ...itself('record', file, ...everything)])
  expect(code, stderr).toBe(0)
  return file
}

interface Line {
  from: string
  atMs: number
  message: { method?: string; id?: unknown; params?: Record<string, unknown>; result?: Record<string, unknown> }
}

const linesOf = (file: string): Line[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Line)

describe('recording', () => {
  test('recording does not affect the client, and every message of both sides is written', async () => {
    const file = await recorded(['test_simple_text'])
    const lines = linesOf(file)
    expect(lines.filter(({ from }) => from === 'client').map(({ message }) => message.method)).toContain('tools/call')
    expect(JSON.stringify(lines.at(-1))).toContain('This is a simple text response')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('recording and playing at a terminal say what they wait for, and end with the first Ctrl-C', async () => {
    const file = await recorded(['test_simple_text'])
    for (const args of [
      ['record', `${file}.new`, ...everything],
      ['replay', file],
    ]) {
      const terminal = startTerminal([CLI, ...args])
      await terminal.until('aiting for a client on standard input')
      terminal.type(KEY.interrupt)
      await terminal.exit
    }
  }, 60_000)

  test('recording does not overwrite a file', async () => {
    const file = await recorded(['test_simple_text'])
    const before = readFileSync(file, 'utf8')
    const { code, stderr } = await portico(['record', file, ...everything])
    expect(code).toBe(2)
    expect(stderr).toContain('already exists')
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  test('recording hides secrets in the file only', async () => {
    const file = join(newFolder(), 'exchange.jsonl')
    const secret = 'sk-1234567890abcdefghij'
    const { stdout } = await portico(['call', 'test_x_mcp_header', `region=${secret}`, ...itself('record', file, ...everything)])
    expect(stdout).toContain(secret)
    expect(readFileSync(file, 'utf8')).not.toContain(secret)
    expect(readFileSync(file, 'utf8')).toContain('[redacted]')
  })

  test('a server at a URL can be recorded for a client that only knows standard streams', async () => {
    const listening = await listen(everythingServer(), { port: 0, handleSignals: false })
    try {
      const file = join(newFolder(), 'exchange.jsonl')
      const { stdout, stderr } = await portico(['call', 'test_x_mcp_header', 'region=eu', ...itself('record', file, listening.url)], {
        env: { HOME: newFolder() },
      })
      expect(stdout, stderr).toBe('Region: eu\n')
      expect(linesOf(file).length).toBeGreaterThan(3)
    } finally {
      await listening.close()
    }
  })

  test('a full recording file ends the recording, not the exchange', async () => {
    const file = join(newFolder(), 'exchange.jsonl')
    const { stdout } = await portico(['call', 'test_simple_text', ...itself('record', '--max-megabytes', '0.001', file, ...everything)])
    expect(stdout).toBe('This is a simple text response for testing.\n')
    expect(statSync(file).size).toBeLessThanOrEqual(1200)
  })
})

describe('playing back', () => {
  test('playback gives a known request its recorded answer, with the new progress token', async () => {
    const file = await recorded(['test_tool_with_progress'], '--log', 'debug')
    const { code, stdout } = await portico(['call', 'test_tool_with_progress', ...itself('replay', file)])
    expect(code).toBe(0)
    expect(stdout).not.toBe('')
  })

  test('playback refuses an unknown request with an explanation', async () => {
    const file = await recorded(['test_simple_text'])
    const { code, stderr } = await portico(['call', 'test_image_content', ...itself('replay', file)])
    expect(code).toBe(1)
    expect(stderr).toContain('The recording has no tools/call with')
  })

  test('a file that is not a recording is refused, with the line', async () => {
    const file = join(newFolder(), 'exchange.jsonl')
    writeFileSync(file, '{"portico":"transcript","format":1,"target":"x","at":"2026-11-16"}\nnot json\n')
    const { code, stderr } = await portico(['replay', file])
    expect(code).toBe(8)
    expect(stderr).toContain('line 2: expected JSON')
  })
})

describe('comparing', () => {
  test('a server with the same answers compares as equal', async () => {
    const file = await recorded(['test_simple_text'])
    const { code, stdout } = await portico(['replay', file, '--against', ...everything])
    expect(stdout).toContain('= tools/call test_simple_text')
    expect(code).toBe(0)
  })

  test('a server with other answers is reported by place', async () => {
    const file = await recorded(['test_simple_text'])
    writeFileSync(file, readFileSync(file, 'utf8').replace('This is a simple', 'This was a simple'))
    const { code, stdout } = await portico(['replay', file, '--against', ...everything])
    expect(code).toBe(9)
    expect(stdout).toContain('/result/content/0/text')
    expect(stdout).toContain('- "This was a simple')
    const json = await portico(['replay', file, '--json', '--against', ...everything])
    expect(JSON.parse(json.stdout)).toMatchObject({
      changed: [{ method: 'tools/call', differences: [{ pointer: '/result/content/0/text' }] }],
    })
  })

  test('calls can be left out of a comparison', async () => {
    const file = await recorded(['test_simple_text'])
    const { stdout } = await portico(['replay', file, '--no-calls', '--against', ...everything])
    expect(stdout).not.toContain('tools/call')
    expect(stdout).toContain('= tools/list')
  })
})

test('differences have the place, the old value and the new value', () => {
  expect(differences({ a: [1, { 'x/y': 2 }], b: 1 }, { a: [1, { 'x/y': 3 }, 4] })).toEqual([
    { pointer: '/a/1/x~1y', before: 2, after: 3 },
    { pointer: '/a/2', after: 4 },
    { pointer: '/b', before: 1 },
  ])
})
