/** The values of servers: lists, details, settings, checkups. */

import type { Implementation } from '../client/index.ts'
import type { CheckupFinding, HostEvent, Review, ServerConnection, ServerLog, ServerSpec } from '../host/index.ts'

/** How a server is reached. Values that look like secrets are replaced by their length. */
export type TransportView =
  | { type: 'stdio'; command: string; args: readonly string[]; env: Readonly<Record<string, string>>; cwd?: string }
  | { type: 'http'; url: string; headerNames: readonly string[] }
  | { type: 'memory' }

/** The state of a server. */
export interface HealthView {
  /** The `state` of `Health` in portico/host. */
  state: string
  /** Why it is not ready. */
  error?: { code?: string; message: string /** The person said no. */; isByPerson?: true }
  /** When it is tried again. */
  retryInMs?: number
  /** Unanswered pings in a row. */
  missedPings?: number
}

/** A server in the list. */
export interface ServerView {
  id: string
  title?: string
  transport: TransportView
  tier: ServerSpec['tier']
  isEnabled: boolean
  /** The files that it was read from. */
  from: readonly ServerSpec['provenance'][number][]
  labels: readonly string[]
  health: HealthView
  /** The negotiated protocol revision. Undefined while it is not connected. */
  revision?: string
  counts: { tools: number; prompts: number; resources: number; templates: number }
  /** How many of its definitions wait for approval. */
  waiting: number
  /** How many of those were approved before, in another form. */
  changed: number
}

/** What a server said about itself in the handshake, and how it is connected. */
export interface ServerFacts {
  revision: string
  info: Implementation
  capabilities: Readonly<Record<string, unknown>>
  instructions?: string
  /** Milliseconds since 1970. */
  connectedAt: number
  /** The id of its process. */
  pid?: number
  /** Its address, without the query. */
  url?: string
  /** The request of a ping. */
  pingMethod: ServerConnection['pingMethod']
  /** The lowest level that it logs, and the request that sets it. Undefined: it declares no logging. */
  logging?: ServerConnection['logging']
}

/** A server with everything that its page shows. */
export interface ServerDetails extends ServerView {
  /** Undefined while it is not connected. */
  facts?: ServerFacts
  review?: Review
  /** Approved definitions that the server does not offer now, such as `tool search`. */
  notOffered: readonly string[]
  roots: readonly RootView[]
  /** The rest of its sampling budget. */
  budget: { tokensLeft: number; requestsLeft: number }
  settings: ServerSettings
  /** Whether the server is in the list of the host, so that its settings can be stored. */
  isStored: boolean
  /** Its requests carry the tokens of a login. */
  isLoggedIn: boolean
  /** A rule of the user starts it and enables its changed offering without a question. Undefined: the host has no file for such a rule. */
  isBeingWritten?: boolean
}

/** The settings of a server. Values that look like secrets are replaced by their length. */
export interface ServerSettings {
  title?: string
  tier: ServerSpec['tier']
  labels: readonly string[]
  timeoutMs?: number
  env?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  command?: string
  args?: readonly string[]
  cwd?: string
  url?: string
  /** Folders to grant as roots at each start. */
  roots: readonly string[]
  /** The protocol revisions to use. Undefined: all. */
  revisions?: readonly string[]
  /** The HTTP transport of a server at an address. Undefined: the host finds out. */
  httpTransport?: NonNullable<ServerSpec['httpTransport']>
}

/** New settings. What is left out stays as it is; in `env` and `headers`, `null` removes a value. */
export interface ChangedSettings {
  title?: string | null
  tier?: ServerSpec['tier']
  labels?: readonly string[]
  timeoutMs?: number | null
  env?: Readonly<Record<string, string | null>>
  headers?: Readonly<Record<string, string | null>>
  command?: string
  args?: readonly string[]
  cwd?: string | null
  url?: string
  roots?: readonly string[]
  revisions?: readonly string[] | null
  httpTransport?: ServerSettings['httpTransport'] | null
}

/** A folder that a server may work in. */
export interface RootView {
  uri: string
  name?: string
}

/** A new server: either a command or a URL. */
export interface NewServer {
  id: string
  title?: string
  tier?: ServerSpec['tier']
  labels?: readonly string[]
  command?: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  cwd?: string
  url?: string
  headers?: Readonly<Record<string, string>>
}

/** A server that another client on this computer has configured. */
export interface ImportableServer {
  id: string
  transport: TransportView
  from: readonly ServerSpec['provenance'][number][]
  /** It was imported before. To import it again updates its command or address. */
  isImported: boolean
  /** Why to look twice: variables that change what runs. */
  warnings: readonly string[]
  /** The places of values that look like secrets. */
  plainSecrets: readonly string[]
}

/** A server in pasted text. */
export interface PastedServer extends Omit<ImportableServer, 'from' | 'isImported'> {
  /** A server with this name is configured already. */
  isTaken: boolean
}

/** A part of a file or of pasted text that cannot be used. */
export interface ConfigProblemView {
  file: string
  where: string
  text: string
}

/** A tool that claims to only read. */
export interface ReadOnlyToolView {
  name: string
  /** Whether the person believes it. */
  isAccepted: boolean
}

/** How enabling one of several servers ended. */
export interface EnabledServer {
  server: string
  health: HealthView
  /** Set if its first offering is in use now. */
  offering?: Extract<HostEvent, { kind: 'enabled' }>
  error?: { code?: string; message: string }
}

/** A step of a checkup. */
export type DoctorFinding = CheckupFinding

/** The result of a checkup of a server. */
export interface DoctorReport {
  isHealthy: boolean
  findings: readonly DoctorFinding[]
}

/** A line of a server's log. */
export interface LogEntry {
  /** Counts the entries of this server. */
  seq: number
  /** Milliseconds since 1970. */
  at: number
  log: ServerLog
}
