/** Types for the readers of configuration formats, one reader per client. */

import type { InputSpec, ServerSpec } from '../model/server-spec.ts'
import type { PlaceholderFolders } from './foreign-text.ts'
import type { Members } from './read-members.ts'

/** A server as read from one file. readDocument adds the other members of a ServerSpec. */
export type ServerDraft = Omit<ServerSpec, 'id' | 'tier' | 'provenance'> & Partial<Pick<ServerSpec, 'tier' | 'provenance'>>

/** The input of a format reader besides the document. */
export interface FormatContext {
  readonly file: string
  readonly folders: PlaceholderFolders
  problem(where: string, text: string): void
  /** Adds one server. If `draft` throws, a problem is reported instead. */
  server(name: string, where: string, draft: () => ServerDraft | undefined): void
  /** Declares an input that all servers of the file share. Inputs of a single server belong in its draft. */
  input(input: InputSpec): void
}

/** Reads the configuration file of one client. */
export interface ConfigFormat {
  /** Display name of the client. */
  client: string
  read(document: Members, reading: FormatContext): void
}
