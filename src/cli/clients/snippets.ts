/** Clients whose files are TOML or YAML. `portico install` prints what to put into them: an edit could lose comments or the layout. */

import type { InstalledServer } from './known-clients.ts'

export interface SnippetClient {
  /** As `portico/host` calls it. */
  title: string
  /** The lines to paste. */
  lines(name: string, server: InstalledServer): string[]
  /** Where the lines go. */
  where: string
}

const isEmpty = (table: Readonly<Record<string, string>>): boolean => Object.keys(table).length === 0

/** A text in double quotes: the escapes of JSON mean the same in TOML and YAML. TOML also refuses the character DEL. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f')

const list = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`

const PLAIN_KEY = /^[A-Za-z0-9_-]+$/

const tomlKey = (name: string): string => (PLAIN_KEY.test(name) ? name : quoted(name))

const tomlTable = (table: Readonly<Record<string, string>>): string =>
  `{ ${Object.entries(table)
    .map(([name, value]) => `${tomlKey(name)} = ${quoted(value)}`)
    .join(', ')} }`

const yamlTable = (table: Readonly<Record<string, string>>): string =>
  `{ ${Object.entries(table)
    .map(([name, value]) => `${quoted(name)}: ${quoted(value)}`)
    .join(', ')} }`

export const SNIPPET_CLIENTS = {
  codex: {
    title: 'Codex',
    where: 'Add these lines at the end of',
    lines: (name, server) => [
      `[mcp_servers.${tomlKey(name)}]`,
      ...(server.kind === 'command'
        ? [
            `command = ${quoted(server.command)}`,
            `args = ${list(server.args)}`,
            ...(isEmpty(server.env) ? [] : [`env = ${tomlTable(server.env)}`]),
          ]
        : [`url = ${quoted(server.url)}`, ...(isEmpty(server.headers) ? [] : [`http_headers = ${tomlTable(server.headers)}`])]),
    ],
  },
  goose: {
    title: 'Goose',
    where: 'Add these lines below "extensions:" (the first line, if it is not there yet) in',
    lines: (name, server) => [
      'extensions:',
      `  ${quoted(name)}:`,
      `    name: ${quoted(name)}`,
      '    enabled: true',
      ...(server.kind === 'command'
        ? [
            '    type: stdio',
            `    cmd: ${quoted(server.command)}`,
            `    args: ${list(server.args)}`,
            ...(isEmpty(server.env) ? [] : [`    envs: ${yamlTable(server.env)}`]),
          ]
        : [
            '    type: streamable_http',
            `    uri: ${quoted(server.url)}`,
            ...(isEmpty(server.headers) ? [] : [`    headers: ${yamlTable(server.headers)}`]),
          ]),
      '    timeout: 300',
    ],
  },
  continue: {
    title: 'Continue',
    where: 'Add these lines below "mcpServers:" (the first line, if it is not there yet) in',
    lines: (name, server) => [
      'mcpServers:',
      `  - name: ${quoted(name)}`,
      ...(server.kind === 'command'
        ? [
            `    command: ${quoted(server.command)}`,
            `    args: ${list(server.args)}`,
            ...(isEmpty(server.env) ? [] : [`    env: ${yamlTable(server.env)}`]),
          ]
        : [
            '    type: streamable-http',
            `    url: ${quoted(server.url)}`,
            ...(isEmpty(server.headers) ? [] : ['    requestOptions:', `      headers: ${yamlTable(server.headers)}`]),
          ]),
    ],
  },
} as const satisfies Record<string, SnippetClient>

export type SnippetName = keyof typeof SNIPPET_CLIENTS

export const isSnippetClient = (name: string): name is SnippetName => Object.hasOwn(SNIPPET_CLIENTS, name)
