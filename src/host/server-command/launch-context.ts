/** Where a command would run: its working folder, its PATH and its program. */

import { resolve } from 'node:path'
import type { StdioTransport } from '../model/server-spec.ts'
import { type FoundProgram, findProgram } from './find-program.ts'

export interface EntryFileLimits {
  /** Of a larger file, only size and times are compared. */
  maxProgramBytes: number
  /** Maximum sum of all files to read. Beyond it, only size and times are compared. */
  maxTotalBytes: number
  /** Maximum number of paths to check for files that the command names. A command that needs more is refused. */
  maxLookups: number
  /** A larger lock file is not read: the package is then identified by name and version only. */
  maxLockBytes: number
}

export const DEFAULT_ENTRY_FILE_LIMITS: EntryFileLimits = {
  maxProgramBytes: 512 * 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
  maxLookups: 20_000,
  maxLockBytes: 32 * 1024 * 1024,
}

export interface EntryFileFacts {
  /** The folder that relative paths start from. Default: the working directory of this process. */
  cwd?: string
  /** Where programs are searched. Default: PATH of this process. */
  path?: string
  /** Files that the server writes to. Their content is not part of the fingerprint. */
  dataFiles?: readonly string[]
  limits?: Partial<EntryFileLimits>
}

/** The working folder of the process. */
export const folderOf = (transport: StdioTransport, { cwd = process.cwd() }: EntryFileFacts): string => resolve(cwd, transport.cwd ?? '.')

/** The PATH of the process: from its configuration, or from this process. */
export const pathOf = (transport: StdioTransport, facts: EntryFileFacts): string | undefined =>
  transport.env.PATH ?? facts.path ?? process.env.PATH

/** Finds the program of a command as the operating system would. */
export const findCommandProgram = (transport: StdioTransport, facts: EntryFileFacts): Promise<FoundProgram | undefined> =>
  findProgram(transport.command, { folder: folderOf(transport, facts), path: pathOf(transport, facts) })
