/** Moves one file to Portico. */

import { isFastMcp, moveFastMcp } from './fastmcp.ts'
import { type Leftover, Program } from './program.ts'
import { isSdkV1, moveSdkV1 } from './sdk-v1.ts'
import { isSdkV2, moveSdkV2 } from './sdk-v2.ts'
import type { TypeScript } from './syntax.ts'

export interface Migrated {
  text: string
  /** The libraries that the file uses. */
  from: string[]
  leftovers: Leftover[]
}

const LIBRARIES = [
  { name: 'the official SDK v1', isOf: isSdkV1, move: moveSdkV1 },
  { name: 'the official SDK v2', isOf: isSdkV2, move: moveSdkV2 },
  { name: 'FastMCP', isOf: isFastMcp, move: moveFastMcp },
]

/**
 * @returns undefined if the file imports none of the libraries
 * @throws if the file cannot be parsed: changes to a tree that was guessed would break it more
 */
export function migrateText(ts: TypeScript, file: string, text: string): Migrated | undefined {
  // The changes are written with \n. A file with other line ends keeps them.
  const isCrlf = text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text)
  let current = isCrlf ? text.replaceAll('\r\n', '\n') : text
  const from: string[] = []
  const leftovers: Leftover[] = []
  for (const { name, isOf, move } of LIBRARIES) {
    const program = new Program(ts, file, current)
    if (![...program.imports.values()].some(({ module }) => isOf(module))) continue
    if (program.root.parseDiagnostics?.length) throw new Error('it has syntax errors; correct them first')
    move(program)
    from.push(name)
    leftovers.push(...program.leftovers)
    current = program.edits.result()
  }
  return from.length === 0 ? undefined : { text: isCrlf ? current.replaceAll('\n', '\r\n') : current, from, leftovers }
}
