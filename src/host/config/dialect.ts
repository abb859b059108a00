/** Types for the readers of configuration formats, one reader per client. */

import type { InputSpec, ServerSpec } from '../model/server-spec.ts'
import type { Places } from './foreign-text.ts'
import type { Members } from './members.ts'

/** A server as read from one file. readDocument adds the other members of a ServerSpec. */
export type Draft = Omit<ServerSpec, 'id' | 'tier' | 'provenance'> & Partial<Pick<ServerSpec, 'tier' | 'provenance'>>

/** What a format reader is given besides the document. */
export interface Reading {
  readonly file: string
  readonly places: Places
  problem(where: string, text: string): void
  /** Adds one server. If `draft` throws, a problem is reported instead. */
  server(name: string, where: string, draft: () => Draft | undefined): void
  /** Declares an input that all servers of the file share. Inputs of a single server belong in its draft. */
  input(input: InputSpec): void
}

/** Reads the configuration file of one client. */
export interface Dialect {
  /** Display name of the client. */
  client: string
  read(document: Members, reading: Reading): void
}
