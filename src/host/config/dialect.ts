/** What a reader of one kind of file is given, and what it hands back. */

import type { InputSpec, ServerSpec } from '../model/server-spec.ts'
import type { Places } from './foreign-text.ts'
import type { Members } from './members.ts'

/** A server as one file has it. The rest of a ServerSpec is known to whoever reads the file. */
export type Draft = Omit<ServerSpec, 'id' | 'tier' | 'provenance'> & Partial<Pick<ServerSpec, 'tier' | 'provenance'>>

export interface Reading {
  readonly file: string
  readonly places: Places
  problem(where: string, text: string): void
  /** Adds one server, or, when `draft` refuses, a problem in its place. */
  server(name: string, where: string, draft: () => Draft | undefined): void
  /** An input that the file declares for all of its servers; those of one server go into its draft. */
  input(input: InputSpec): void
}

export interface Dialect {
  /** The client, as people call it. */
  client: string
  read(document: Members, reading: Reading): void
}
