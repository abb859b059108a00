/** The configuration of a server, with placeholders for secrets. */

import type { HttpTransportName } from '../../http/client/options.ts'
import type { Service } from '../../protocol/interfaces/service.ts'
import type { ToolAnnotations } from '../../protocol/model/tools.ts'

/** The person's own setting for a server. The server cannot change it. */
export type TrustTier = 'trusted' | 'untrusted'

/** The file that an entry was read from, for people: "from Cursor, user scope". */
export interface ConfigProvenance {
  client: string
  scope: 'user' | 'project' | 'managed' | 'ours'
  file: string
}

/** Values may contain `${secret:NAME}`, `${env:NAME}` and `${input:NAME}`, which are resolved at the start of the server. */
export interface StdioTransport {
  type: 'stdio'
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd?: string
}

export interface HttpTransport {
  type: 'http'
  url: string
  headers: Readonly<Record<string, string>>
}

/** A server in this process. It needs no launch. Everything else is decided as for other servers. */
export interface InProcessTransport {
  type: 'memory'
  service: Service
}

/** How a server is reached: a process, a URL, or an object in this process. */
export type ServerTransport = StdioTransport | HttpTransport | InProcessTransport

/** A value that the person is asked for: `${input:id}`. */
export interface InputSpec {
  id: string
  description?: string
  /** The value is hidden while it is typed. */
  isSecret: boolean
  default?: string
  /** The values to choose from. Default: any text. */
  options?: readonly string[]
}

/** The configuration of a server. */
export interface ServerSpec {
  /** The name in the configuration, unique in a host. Rules and grants use it. */
  id: string
  title?: string
  transport: ServerTransport
  tier: TrustTier
  isDisabled?: boolean
  provenance: readonly ConfigProvenance[]
  /** Hints of the operator for tools, by name or `*`. The host believes them, unlike the hints of the server. */
  asserted?: Readonly<Record<string, ToolAnnotations>>
  /** Labels of the data that comes from this server, such as `private:mail` or `untrusted`; see label.ts. */
  labels?: readonly string[]
  /** Folders to grant as roots. */
  roots?: readonly string[]
  /** Files in the command that the server itself writes to. Their contents are not part of the fingerprint. */
  dataFiles?: readonly string[]
  timeoutMs?: number
  /** The protocol revisions to use. Default: all. */
  revisions?: readonly string[]
  /** The HTTP transport of a server at a URL. Default: the client finds out. */
  httpTransport?: HttpTransportName
  /** The inputs of its placeholders. */
  inputs?: readonly InputSpec[]
}
