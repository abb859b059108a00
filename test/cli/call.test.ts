import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listen } from '../../src/http/index.ts'
import { everythingServer } from '../../src/testing/everything.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'
import { CLI, portico, serve, serveFixture } from './support/cli.ts'
import { KEY, startTerminal } from './support/terminal.ts'

const newFolder = temporaryFolders()
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
const everything = serve('everything')

describe('a tool is called from a command line', () => {
  test("a tool's output goes to standard output, and nothing else does", async () => {
    const { code, stdout, stderr } = await portico(['call', 'test_simple_text', ...everything])
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'This is a simple text response for testing.\n', stderr: '' })
  })

  test('a tool can be called at a URL', async () => {
    const listening = await listen(everythingServer(), { port: 0, handleSignals: false })
    try {
      const { code, stdout } = await portico(['call', listening.url, 'test_simple_text'], { env: { HOME: newFolder() } })
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'This is a simple text response for testing.\n' })
    } finally {
      await listening.close()
    }
  })

  test('a call that waits for a server whose store is down says so once, and then gives no hint to doctor', async () => {
    const error = { code: -32603, message: 'The store is away', data: { reason: 'store_down', retryable: true } }
    const down = createServer((_request, response) =>
      response
        .writeHead(503, { 'content-type': 'application/json', 'retry-after': '0' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: null, error })),
    )
    await new Promise<void>((resolve) => down.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(down.address() as AddressInfo).port}/mcp`
      const { code, stderr } = await portico(['call', url, 'x'], { env: { HOME: newFolder() } })
      expect(code).not.toBe(0)
      expect(stderr.match(/answered 503 Service Unavailable: .*The store is away.*\. Trying again in 1 s/g)).toHaveLength(1)
      expect(stderr).toContain('The server runs, but its store is down')
      expect(stderr).not.toContain('doctor')
    } finally {
      down.close()
    }
  })

  test('with --json the whole result is one JSON document', async () => {
    const { stdout } = await portico(['call', '--json', 'test_image_content', ...everything])
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: 'image', mimeType: 'image/png' }] })
  })

  test('arguments come as words, as JSON, from a file or from standard input', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'args.json'), '{"region":"file"}')
    const call = (...args: string[]): ReturnType<typeof portico> =>
      portico(['call', 'test_x_mcp_header', ...args, ...everything], { cwd: folder, input: '{"region":"input"}' })
    expect((await call('region=words')).stdout).toBe('Region: words\n')
    expect((await call('--json', '{"region":"json"}')).stdout).toBe('Region: json\n')
    expect((await call('--args', '@args.json')).stdout).toBe('Region: file\n')
    expect((await call('--args', '-')).stdout).toBe('Region: input\n')
  })

  test('an image is saved where requested, and its path is printed', async () => {
    const folder = newFolder()
    const { stdout } = await portico(['call', 'test_image_content', '--save', folder, ...everything])
    const path = /\S+\.png/.exec(stdout)?.[0] ?? ''
    expect(path.startsWith(folder)).toBe(true)
    expect(readFileSync(path).subarray(1, 4).toString()).toBe('PNG')
  })

  test('a failure of the tool is printed, and sets the exit code', async () => {
    const { code, stdout, stderr } = await portico(['call', 'test_error_handling', ...everything])
    expect(code).toBe(1)
    expect(stdout).toBe('This tool intentionally returns an error for testing\n')
    expect(stderr).toContain('The tool test_error_handling failed')
  })
})

describe('mistakes are told with what was meant, and have exit codes of their own', () => {
  test.each([
    ['a tool that is none', ['call', 'test_simple_txt', ...everything], 2, 'Did you mean "test_simple_text"?'],
    ['an argument that is none', ['call', 'test_x_mcp_header', 'regoin=x', ...everything], 2, 'Did you mean "region"?'],
    ['a command that is none', ['cal'], 2, 'Did you mean call?'],
    ['an option that is none', ['tools', '--jsn', ...everything], 2, 'Did you mean --json?'],
    ['no tool', ['call', 'https://server.example/mcp'], 2, 'Missing tool'],
    ['no server', ['tools'], 2, 'Missing server'],
    ['a command where none belongs', ['completion', 'bash', '--', 'node'], 2, 'does not take a command after --'],
    ['a program that is none', ['tools', '--', 'no-such-program-anywhere'], 5, 'there is no such command'],
    ['a program that ends at once', ['tools', '--', process.execPath, '-e', 'process.exit(3)'], 5, 'exited with code 3'],
    ['nobody at the port', ['tools', 'http://127.0.0.1:1/mcp'], 5, 'ECONNREFUSED'],
    ['an unencrypted server far away', ['tools', 'http://server.example/mcp'], 5, '--insecure'],
    ['a server that is not configured', ['tools', 'nobody'], 2, 'nobody'],
    ['a revision that is none', ['tools', '--revision', '1999-01-01', ...everything], 2, 'Unknown protocol revision "1999-01-01"'],
  ] as [string, string[], number, string][])('a wrong command has the right exit code and error: %s', async (_, args, code, text) => {
    const ended = await portico(args, { env: { HOME: newFolder() } })
    expect(ended.stderr).toContain(text)
    expect(ended.code).toBe(code)
    expect(ended.stdout).toBe('')
  })

  test('with --json the error is JSON on standard output as well', async () => {
    const { code, stdout } = await portico(['call', '--json', 'nothing', ...everything])
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ error: { kind: 'usage', message: 'Unknown tool "nothing" at Everything' } })
  })

  test('help and version exit with 0', async () => {
    expect(await portico(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
    const { code, stdout } = await portico(['help'])
    expect(code).toBe(0)
    expect(stdout).toContain('portico help exit-codes')
  })
})

describe('in a terminal', () => {
  test('progress is drawn while the call runs, and removed at its end', async () => {
    proves('T-TOOL-005')
    const terminal = startTerminal([CLI, 'call', 'slow', ...serveFixture('asking.mjs')])
    await terminal.until('step 2')
    expect(terminal.text()).toMatch(/slow █+░+ 67% step 2/)
    expect(await terminal.exit).toBe(0)
    expect(terminal.text()).toBe('all three done')
  })

  test('Ctrl-C cancels the call, also at the server, and says so', async () => {
    proves('T-CANC-019')
    const terminal = startTerminal([CLI, 'call', '--verbose', 'endless', ...serveFixture('asking.mjs')])
    await terminal.until('going on')
    terminal.type(KEY.interrupt)
    expect(await terminal.exit).toBe(130)
    expect(terminal.text()).toContain('Cancelled: endless was told to stop')
    expect(terminal.text()).toContain('the call was cancelled')
  })

  test('NO_COLOR turns colours off', async () => {
    const coloured = startTerminal([CLI, 'tools', ...everything])
    await coloured.exit
    const plain = startTerminal([CLI, 'tools', ...everything], { env: { NO_COLOR: '1' } })
    await plain.exit
    expect(coloured.raw()).toContain('\u001b[1m')
    expect(plain.raw()).not.toContain('\u001b[')
  })

  test('a table is cut to the width of the terminal', async () => {
    const terminal = startTerminal([CLI, 'tools', ...everything], { columns: 80 })
    await terminal.exit
    for (const line of terminal.text().split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(terminal.text()).toContain('…')
  })
})
