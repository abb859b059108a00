/** The clients that `portico install` can write to: the member of their file with the servers, and the shape of an entry. */

/** A server as a person describes it. */
export type InstalledServer =
  | { kind: 'command'; command: string; args: readonly string[]; env: Readonly<Record<string, string>> }
  | { kind: 'url'; url: string; headers: Readonly<Record<string, string>> }

export interface KnownClient {
  /** As `portico/host` calls it. */
  title: string
  /** The member that holds the servers, by name. */
  member: string
  /** Undefined if the client cannot connect to such a server. */
  entry(server: InstalledServer): Record<string, unknown> | undefined
  /** What the person does next. */
  then: string
}

const RESTART = 'Restart it to see the server.'

/** Leaves out empty members. */
const filled = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => value !== undefined && (typeof value !== 'object' || value === null || Object.keys(value).length > 0),
    ),
  )

const program = (server: Extract<InstalledServer, { kind: 'command' }>, before: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...before,
  command: server.command,
  args: [...server.args],
  ...filled({ env: server.env }),
})

/** @param url the member with the URL */
const remote = (server: Extract<InstalledServer, { kind: 'url' }>, url: string, before: Record<string, unknown> = {}) =>
  filled({ ...before, [url]: server.url, headers: server.headers })

const plain =
  (url: string) =>
  (server: InstalledServer): Record<string, unknown> =>
    server.kind === 'command' ? program(server) : remote(server, url)

const typed = (server: InstalledServer): Record<string, unknown> =>
  server.kind === 'command' ? program(server, { type: 'stdio' }) : remote(server, 'url', { type: 'http' })

export const KNOWN_CLIENTS = {
  'claude-desktop': {
    title: 'Claude Desktop',
    member: 'mcpServers',
    entry: (server) => (server.kind === 'command' ? program(server) : undefined),
    then: 'Quit and restart Claude Desktop to see the server.',
  },
  'claude-code': {
    title: 'Claude Code',
    member: 'mcpServers',
    entry: typed,
    then: 'Start a new session, and type /mcp to see the server.',
  },
  vscode: { title: 'VS Code', member: 'servers', entry: typed, then: 'Run "MCP: List Servers" to start it.' },
  cursor: { title: 'Cursor', member: 'mcpServers', entry: plain('url'), then: 'Look at the MCP settings to switch it on.' },
  windsurf: { title: 'Windsurf', member: 'mcpServers', entry: plain('serverUrl'), then: RESTART },
  cline: {
    title: 'Cline',
    member: 'mcpServers',
    entry: (server) => (server.kind === 'command' ? program(server) : remote(server, 'url', { type: 'streamableHttp' })),
    then: 'Cline reads the file again at once.',
  },
  gemini: { title: 'Gemini CLI', member: 'mcpServers', entry: plain('httpUrl'), then: RESTART },
  kiro: { title: 'Kiro', member: 'mcpServers', entry: plain('url'), then: RESTART },
  'amazon-q': { title: 'Amazon Q', member: 'mcpServers', entry: plain('url'), then: RESTART },
  zed: {
    title: 'Zed',
    member: 'context_servers',
    entry: (server) => (server.kind === 'command' ? program(server, { source: 'custom' }) : remote(server, 'url')),
    then: 'Zed reads the file again at once.',
  },
} as const satisfies Record<string, KnownClient>

export type ClientName = keyof typeof KNOWN_CLIENTS

export const CLIENT_NAMES = Object.keys(KNOWN_CLIENTS) as ClientName[]
