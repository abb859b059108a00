/** Reads servers from text that a person pasted: the configuration of any client, a part of one, an address or a command line. */

import { isObject } from '../../base/json.ts'
import type { ServerSpec, ServerTransport } from '../model/server-spec.ts'
import { shellWords } from '../server-command/split-words.ts'
import { parse, type Syntax } from './parse-document.ts'
import { readText } from './read-config.ts'
import type { ReadConfig } from './read-document.ts'
import { safeName } from './server-names.ts'

/** Names the text in problems. */
const PASTED = 'pasted text'

/** Options for `readPasted`. */
export interface ReadPastedOptions {
  /** The most characters to read. Default: 1,000,000. */
  maxChars?: number
}

/** Nothing is started, and no file is read. */
export function readPasted(text: string, { maxChars = 1_000_000 }: ReadPastedOptions = {}): ReadConfig {
  const plain = text.trim()
  if (plain === '') return problem('Expected a configuration, an address or a command, got nothing')
  if (plain.length > maxChars) return problem(`Expected at most ${maxChars} characters (maxChars), got ${plain.length}`)
  if (/^https?:\/\/\S+$/.test(plain)) return fromUrl(plain)
  if (/^[{["]/.test(plain)) return fromJson(plain)
  if (/^\[\w/.test(plain) || /^\w[\w-]*:\s*(?:\n|$)/.test(plain)) return fromFile(plain, /^\[/.test(plain) ? 'toml' : 'yaml')
  return fromCommand(plain)
}

const problem = (text: string): ReadConfig => ({ servers: [], inputs: [], problems: [{ file: PASTED, where: '', text }] })

function fromFile(text: string, syntax: Syntax): ReadConfig {
  const file = `${PASTED}.${syntax}`
  const read = readText(text, { file })
  return { ...read, problems: read.problems.map((each) => ({ ...each, file: PASTED })) }
}

/** A whole file, the entry of one server, or some entries with their names. */
function fromJson(text: string): ReadConfig {
  // People copy a part of a file: `"name": { ... }`.
  const whole = text.startsWith('"') ? `{${text.replace(/,\s*$/, '')}}` : text
  let value: unknown
  try {
    value = parse(whole, 'json', () => {})
  } catch (error) {
    return problem((error as Error).message)
  }
  if (!isObject(value)) return problem('Expected an object with servers')
  if (isEntry(value)) return fromFile(JSON.stringify({ mcpServers: { [nameOf(value)]: value } }), 'json')
  const entries = Object.values(value)
  const isBare = entries.length > 0 && entries.every((each) => isObject(each) && isEntry(each))
  return fromFile(isBare ? JSON.stringify({ mcpServers: value }) : whole, 'json')
}

const isEntry = (value: Record<string, unknown>): boolean =>
  typeof value.command === 'string' || typeof value.url === 'string' || typeof value.serverUrl === 'string'

function nameOf({ name, command, args, url }: Record<string, unknown>): string {
  if (typeof name === 'string') return name
  if (typeof url === 'string' && URL.canParse(url)) return nameOfUrl(new URL(url))
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((each) => typeof each === 'string')
  return nameOfCommand(words)
}

const fromUrl = (text: string): ReadConfig =>
  URL.canParse(text)
    ? one(nameOfUrl(new URL(text)), { type: 'http', url: text, headers: {} })
    : problem(`Expected an address, got ${JSON.stringify(text)}`)

const one = (name: string, transport: ServerTransport): ReadConfig => {
  const spec: ServerSpec = { id: safeName(name), transport, tier: 'untrusted', provenance: [] }
  return { servers: [spec], inputs: [], problems: [] }
}

/** A host stays a host: `mcp.example.com` is `example`. */
function nameOfUrl({ hostname, port }: URL): string {
  const parts = hostname.split('.').filter((part) => !['www', 'mcp', 'api'].includes(part))
  const name = /^[\d.]+$|:/.test(hostname) ? hostname : (parts.at(-2) ?? parts.at(-1) ?? hostname)
  return hostname === 'localhost' || hostname === '127.0.0.1' ? `local-${port === '' ? '80' : port}` : name
}

/** `$ TOKEN=x npx -y some-server --flag`. Nothing is expanded: operators of a shell are refused. */
function fromCommand(text: string): ReadConfig {
  const line = text.replace(/^\$\s+/, '').replaceAll(/\\\r?\n/g, ' ')
  if (/[\r\n]/.test(line)) return problem('Expected one command, got several lines')
  if (/[;|&()<>`]|\$\(/.test(line.replaceAll(/'[^']*'|"[^"]*"/g, ''))) return problem('Expected one command without operators of a shell')
  const words = shellWords(line)
  const env: Record<string, string> = {}
  while (words[0] !== undefined && /^[A-Za-z_]\w*=/.test(words[0])) {
    const word = words.shift() as string
    env[word.slice(0, word.indexOf('='))] = word.slice(word.indexOf('=') + 1)
  }
  const [command, ...args] = words
  if (command === undefined) return problem('Expected a command, got only variables')
  return one(nameOfCommand(words), { type: 'stdio', command, args, env })
}

const RUNNERS = /^(?:npx|bunx|uvx|pipx|npm|pnpm|yarn|bun|uv|node|deno|python[\d.]*|docker|podman|env)(?:\.(?:exe|cmd))?$/i
const NOT_A_NAME = /^(?:exec|run|dlx|x|tool|start|--?.*|\d+|-m)$/

/** Files are often called this. The folder tells more. */
const NO_NAME = /^(?:server|index|main|app|cli|start|run|mcp|src|dist|build|bin|lib|out)$/i

/** `npx -y @scope/weather-mcp@1.2` is `weather`, and so is `node weather/src/server.mjs`. */
function nameOfCommand(words: readonly string[]): string {
  const [program = 'server'] = words
  const isRun = RUNNERS.test(program.split(/[\\/]/).at(-1) ?? program)
  const word = isRun ? (words.slice(1).find((each) => !NOT_A_NAME.test(each)) ?? program) : program
  const parts = word.split(/[\\/]/).filter((part) => !/^(?:\.*|[A-Za-z]:|@.*)$/.test(part))
  const names = parts.map((part, i) => shortName(part, i === parts.length - 1)).reverse()
  return names.find((name) => !NO_NAME.test(name)) ?? names[0] ?? word
}

function shortName(part: string, isFile: boolean): string {
  const name = isFile
    ? part
        .replace(/@[^@]*$/, '')
        .replace(/:[\w.-]+$/, '')
        .replace(/\.(?:[cm]?[jt]s|py|exe|cmd|sh)$/i, '')
    : part
  const short = name.replace(/^(?:mcp-server-|server-|mcp-)/, '').replace(/(?:-mcp-server|-mcp|-server)$/, '')
  return short === '' ? name : short
}
