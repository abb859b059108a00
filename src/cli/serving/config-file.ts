/** Reads a configuration file: YAML or JSON, one setting a line, with the line of each for errors. */

import { isMap, isScalar, LineCounter, type Pair, parseAllDocuments } from 'yaml'
import { readPlainText } from '../../files/plain-file.ts'
import { yamlFaults } from './yaml-faults.ts'

/** The same limit as for other configuration files. */
const MAX_BYTES = 1024 * 1024

/** A value of the file, and its place. */
export interface FileEntry {
  value: unknown
  line: number
}

export interface ConfigFile {
  /** By name. Limits have names such as `limits.maxSessions`. */
  entries: Map<string, FileEntry>
  /** Each begins with the file and the line. */
  problems: string[]
}

/** @param path as the person gave it, for errors */
export async function readConfigFile(file: string, path: string): Promise<ConfigFile> {
  try {
    return parseConfig(await readPlainText(file, MAX_BYTES), path)
  } catch (error) {
    return { entries: new Map(), problems: [`${path}: cannot be read: ${(error as Error).message}`] }
  }
}

function parseConfig(text: string, path: string): ConfigFile {
  const lines = new LineCounter()
  // Pretty errors quote the line, which may have a secret.
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent', stringKeys: true })
  const entries = new Map<string, FileEntry>()
  const [document, second] = 'empty' in parsed ? [] : parsed
  // An empty file sets nothing.
  if (!document) return { entries, problems: [] }
  const problems = yamlFaults(document, text, lines).map(({ line, words }) => `${path}:${line}: ${words}`)
  if (second) problems.push(`${path}:${lines.linePos(second.range[0]).line}: the settings after "---" are not read; remove this line`)
  if (problems.length > 0) return { entries, problems }
  const { contents } = document
  if (contents === null) return { entries, problems }
  if (!isMap(contents)) return { entries, problems: [`${path}:1: expected names with values, such as "port: 3000"`] }
  const lineOf = ({ key }: Pair): number => (isScalar(key) && key.range ? lines.linePos(key.range[0]).line : 1)
  const valueIn = ({ value }: Pair): unknown => {
    try {
      return (value as { toJS?(of: typeof document, options: object): unknown } | null)?.toJS?.(document, { maxAliasCount: 100 })
    } catch {
      // An alias without an anchor, or too many of them. No setting accepts it.
      return null
    }
  }
  for (const pair of contents.items) {
    const name = String(isScalar(pair.key) ? pair.key.value : pair.key)
    if (name === 'limits' && isMap(pair.value)) {
      for (const limit of pair.value.items) {
        entries.set(`limits.${String(isScalar(limit.key) ? limit.key.value : limit.key)}`, { value: valueIn(limit), line: lineOf(limit) })
      }
    } else entries.set(name, { value: valueIn(pair), line: lineOf(pair) })
  }
  return { entries, problems }
}
