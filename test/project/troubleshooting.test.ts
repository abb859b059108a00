/** The texts on the page about troubleshooting: those that are easy to cause are caused, the others are texts of the sources. */

import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer as createWebServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as v from 'valibot'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { createHost } from '../../src/host/index.ts'
import { httpHandler, type ListenOptions, listen } from '../../src/http/index.ts'
import { connect } from '../../src/index.ts'
import { createServer, keyRing, type Server, type ServerOptions } from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

const page = readFileSync(`${root}/docs/troubleshooting.md`, 'utf8')
const rows = [...page.matchAll(/^\| (?!text or symptom|---)(.+) \|$/gm)].map(([, row = '']) => row.split(' | '))
const quotesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, quote]) => quote as string)

/** Texts of other programs, with the program that the page names for each. */
const FOREIGN: Record<string, RegExp> = {
  TypeScript: /^Cannot find module/,
  Node: /^Cannot find package|^'@?[\w/-]+'$|^require\(\) of ES Module|^Unknown file extension|^ECONNREFUSED$|certificate$/,
  tsx: /^Top-level await/,
}

const messageOf = async (act: () => unknown): Promise<string> => {
  try {
    return JSON.stringify(await act())
  } catch (error) {
    return (error as Error).message
  }
}

function newServer(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: 'weather', version: '1.0.0', onError: () => {}, ...options })
  server.tool('ask', {}, async (_args, ctx) => (await ctx.elicit('city', 'Where?', z.object({ city: z.string() }))).city)
  server.tool('login', {}, async (_args, ctx) => (await ctx.elicit('login', 'Who?', z.object({ password: z.string() }))).password)
  server.tool('wrong', { output: z.object({ degrees: z.number() }) }, () => ({ degrees: 'warm' }) as never)
  server.tool('fails', {}, () => {
    throw new Error('inside')
  })
  return server
}

async function listening(options: ListenOptions = {}, server = newServer()): Promise<string> {
  const { url, close } = await listen(server, { port: 0, ...options })
  onTestFinished(close)
  return url
}

/** What a plain program gets, with its status. */
async function posted(url: string, message: object = {}, headers: Record<string, string> = {}): Promise<string> {
  const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(message), headers: { ...base, ...headers } })
  return `${response.status} ${await response.text()}`
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const OLD = { 'mcp-protocol-version': '2025-06-18' }
const ANSWERS = { answer: { elicit: () => ({ action: 'accept' as const, content: { city: 'Paris' } }) } }

async function called(tool: string, options: object = {}): Promise<string> {
  const client = await connect(newServer(), options)
  onTestFinished(() => client.close())
  return messageOf(() => client.call(tool))
}

/** How each text comes about. */
const CAUSES: Record<string, () => Promise<string>> = {
  'there is no such command': () => messageOf(() => connect({ command: 'no-such-command' })),
  'exited with code': () => messageOf(() => connect({ command: 'node', args: ['-e', 'console.error("no file"); process.exit(3)'] })),
  'No answer to server/discover': () =>
    messageOf(() => connect({ command: 'node', args: ['-e', 'setInterval(() => {}, 1e6)'] }, { limits: { connectTimeoutMs: 100 } })),
  'wrote a line that is not a message': () =>
    new Promise((resolve) => {
      const target = { command: 'node', args: ['-e', 'console.log("Welcome")'] }
      connect(target, { onWarning: (warning) => resolve(String(warning)) }).catch(() => {})
    }),
  'this client supports': () => messageOf(() => connect(newServer({ revisions: ['2026-07-28'] }), { revisions: ['2024-11-05'] })),
  'makes the server public': () => messageOf(() => listen(newServer(), { host: '0.0.0.0', port: 0 })),
  'Host not allowed': async () => {
    const response = await httpHandler(newServer()).fetch(new Request('https://app.example.com/mcp', { method: 'POST', body: '{}' }))
    return `${response.status} ${await response.text()}`
  },
  'Origin not allowed': async () => posted(await listening(), {}, { origin: 'https://evil.example' }),
  'does not speak MCP': async () => {
    const url = await listening()
    return messageOf(() => connect(url.replace('/mcp', '/other')))
  },
  'expected application/json or text/event-stream': async () => {
    const website = createWebServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'))
    onTestFinished(() => void website.close())
    await once(website.listen(0, '127.0.0.1'), 'listening')
    return messageOf(() => connect(`http://127.0.0.1:${(website.address() as AddressInfo).port}/`))
  },
  'could not be reached, or the connection broke': async () => {
    const { url, close } = await listen(newServer(), { port: 0 })
    await close()
    return messageOf(() => connect(url))
  },
  'Mcp-Session-Id is missing': async () => posted(await listening(), LIST, OLD),
  'Session not found': async () => posted(await listening(), LIST, { ...OLD, 'mcp-session-id': 'x'.repeat(32) }),
  'could not be opened: its key is': async () => {
    const seen: string[] = []
    const first = await listening({}, newServer({ keys: keyRing('one secret that is long enough, and random') }))
    const onError = (error: unknown): void => void seen.push((error as Error).message)
    const second = await listening({}, newServer({ keys: keyRing('another secret of the same length, random'), onError }))
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'me', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    }
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: {}, _meta: meta } }
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'ask' }
    const asked = (await posted(first, call, headers)).slice('200 '.length)
    const { requestState } = (JSON.parse(asked) as { result: { requestState: string } }).result
    const inputResponses = { city: { action: 'accept', content: { city: 'Paris' } } }
    const answer = await posted(second, { ...call, params: { ...call.params, requestState, inputResponses } }, headers)
    expect(answer).toContain('Invalid or expired requestState')
    return seen.join('\n')
  },
  'is neither https nor on this machine': () => messageOf(() => connect('http://example.com/mcp')),
  'asks the user a question, and this client cannot show one': () => called('ask'),
  'asks the user a question, and this server keeps no sessions': async () => {
    const client = await connect(await listening({ sessions: false }), { revisions: ['2025-06-18'], ...ANSWERS })
    onTestFinished(() => client.close())
    return messageOf(() => client.call('ask'))
  },
  'has no JSON Schema form': () => messageOf(() => newServer().tool('bare', { input: v.object({ city: v.string() }) as never }, () => '')),
  'got an object of schemas': () => messageOf(() => newServer().tool('raw', { input: { city: z.string() } as never }, () => '')),
  'the input schema must describe an object': () => messageOf(() => newServer().tool('text', { input: z.string() as never }, () => '')),
  'does not match its output schema': () => called('wrong'),
  'Unknown tool:': () => called('no-such-tool'),
  'asks for a secret, which is not allowed in forms': async () => {
    const seen: string[] = []
    const client = await connect(newServer({ onError: (error) => void seen.push((error as Error).message) }), ANSWERS)
    onTestFinished(() => client.close())
    await client.call('login')
    return seen.join('\n')
  },
  'Internal error (reference': () => called('fails'),
  'chat needs a model': async () => {
    const host = await createHost({ servers: {}, folder: newFolder() })
    onTestFinished(() => host.close())
    return messageOf(async () => {
      for await (const part of host.chat('hello')) expect.unreachable(part.type)
    })
  },
}

test.each(Object.keys(CAUSES))('the text "%s" comes about, and is on the page', async (text) => {
  expect(rows.some(([cell = '']) => quotesIn(cell).includes(text))).toBe(true)
  expect(await CAUSES[text]?.()).toContain(text)
})

test('every other text that the page quotes is a text of the sources, or of a program that the row names', () => {
  const sources = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`${root}/src/${name}`, 'utf8'))
    .join('\n')
  expect(rows.length).toBeGreaterThan(30)
  const wrong = rows.flatMap(([cell = '', cause = '']) => {
    // In the second column only sentences are quotes of what a reader sees.
    const texts = [...quotesIn(cell), ...quotesIn(cause).filter((text) => /^[A-Z].* /.test(text))]
    return texts.filter((text) => {
      if (Object.hasOwn(CAUSES, text) || sources.includes(text)) return false
      return !Object.entries(FOREIGN).some(([program, pattern]) => pattern.test(text) && (cell.includes(program) || /^[A-Z]+$/.test(text)))
    })
  })
  expect(wrong).toEqual([])
})

test('the page has a row for an example in a CommonJS project', () => {
  const row = rows.find(([cell = '']) => cell.includes('Top-level await is currently not supported with the "cjs" output format'))
  expect(row?.[2]).toContain('`npm pkg set type=module`')
})
