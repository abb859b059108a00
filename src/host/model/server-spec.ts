/** A server as it is configured: how it is started or reached, with placeholders for what is secret. */

import type { ToolAnnotations } from '../../protocol/model/tools.ts'
import type { Service } from '../../protocol/seams/service.ts'

/** How far the person who runs the host trusts a server. Nothing that the server says changes it. */
export type TrustTier = 'trusted' | 'untrusted'

/** Where an entry was read from, for people: "from Cursor, user scope". */
export interface ConfigProvenance {
  client: string
  scope: 'user' | 'project' | 'managed' | 'ours'
  file: string
}

/** Values may hold `${secret:NAME}`, `${env:NAME}` and `${input:NAME}`; they are resolved when the server is started, and only then. */
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

/** A server in this process. It needs no launch, and everything else is judged as for any other. */
export interface InProcessTransport {
  type: 'memory'
  service: Service
}

export type ServerTransport = StdioTransport | HttpTransport | InProcessTransport

/** A value that a configuration asks a person for: what `${input:id}` stands for. */
export interface InputSpec {
  id: string
  description?: string
  /** It is not shown while it is typed, and may be kept in the vault. */
  isSecret: boolean
  default?: string
  /** The values to choose from; without them any text will do. */
  options?: readonly string[]
}

export interface ServerSpec {
  /** The name in the configuration; unique in a host, and what rules and grants mean by a server. */
  id: string
  title?: string
  transport: ServerTransport
  tier: TrustTier
  isDisabled?: boolean
  provenance: readonly ConfigProvenance[]
  /** What the operator says about tools, by name or `*`; unlike the hints of the server it is believed. */
  asserted?: Readonly<Record<string, ToolAnnotations>>
  /** Labels of the data that comes from this server, such as `private:mail` or `untrusted`; see flow/label.ts. */
  labels?: readonly string[]
  /** Folders it may be given as roots, before anybody is asked. */
  roots?: readonly string[]
  /** Files named in the command that the server itself writes to: what is in them is not part of what the server is. */
  dataFiles?: readonly string[]
  timeoutMs?: number
  /** The inputs that its placeholders name. */
  inputs?: readonly InputSpec[]
}
