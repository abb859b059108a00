/** Files to servers. Nothing is started, nothing is written, and one bad entry or file costs none of the others. */

import { basename, resolve } from 'node:path'
import { readPlainText, UnfitFile } from '../../files/plain-file.ts'
import { codeOf } from '../../files/private-file.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { syntaxOf } from './detect.ts'
import { claudeCodeState } from './dialects/claude-code.ts'
import { parse } from './document.ts'
import { type ConfigLimits, DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { freeName } from './names.ts'
import { problemsOf, Refused } from './problem.ts'
import { type ConfigFile, type ReadConfig, type ReadConfigOptions, readDocument } from './read-document.ts'

/** Reads one file or several; what kind each is follows from where it is and what is in it. Never fails: what cannot be read is a problem. */
export async function readConfig(
  files: string | ConfigFile | readonly (string | ConfigFile)[],
  options: ReadConfigOptions = {},
): Promise<ReadConfig> {
  const limits = withDefaults(DEFAULT_CONFIG_LIMITS, options.limits)
  const all: ReadConfig = { servers: [], inputs: [], problems: [] }
  const list = typeof files === 'string' || 'file' in files ? [files] : files
  const taken = new Set<string>()
  for (const [i, each] of list.entries()) {
    const source = typeof each === 'string' ? { file: each } : each
    if (i >= limits.maxFiles) {
      all.problems.push({ file: source.file, where: '', text: `More than ${limits.maxFiles} files are not read (maxFiles)` })
      break
    }
    const one = await readOne(source, options, limits)
    const room = limits.maxServers - all.servers.length
    if (one.servers.length > room) {
      const text = `${one.servers.length - room} servers are left out: all files have more than ${limits.maxServers} (maxServers)`
      all.problems.push({ file: source.file, where: '', text })
    }
    for (const spec of one.servers.slice(0, room)) {
      const id = freeName(spec.id, taken)
      if (id !== spec.id) all.problems.push({ file: source.file, where: spec.id, text: `Another server has this name; this one is ${id}` })
      taken.add(id)
      all.servers.push({ ...spec, id })
    }
    all.inputs.push(...one.inputs)
    all.problems.push(...one.problems)
  }
  return all
}

async function readOne(source: ConfigFile, options: ReadConfigOptions, limits: ConfigLimits): Promise<ReadConfig> {
  const file = resolve(source.file)
  const isState = source.dialect === claudeCodeState || basename(file) === '.claude.json'
  const text = await textOf(file, isState ? limits.maxStateBytes : limits.maxFileBytes, isState ? 'maxStateBytes' : 'maxFileBytes')
  if (typeof text === 'string') return readText(text, { ...source, file }, { ...options, limits })
  return { servers: [], inputs: [], problems: [{ file, where: '', text: text.fault }] }
}

/** What a file says, from its text. */
export function readText(text: string, source: ConfigFile, options: ReadConfigOptions = {}): ReadConfig {
  const limits = withDefaults(DEFAULT_CONFIG_LIMITS, options.limits)
  const problems = problemsOf(source.file, limits.maxProblems)
  try {
    // A file that was made and not yet filled.
    if (text.trim() === '') return { servers: [], inputs: [], problems: problems.list }
    const document = parse(text, syntaxOf(source.file), problems.add)
    const { servers, inputs } = readDocument(document, source, { ...options, limits }, problems.add)
    return { servers, inputs, problems: problems.list }
  } catch (error) {
    if (error instanceof Refused) problems.add(error.where, error.message)
    else problems.add('', 'It cannot be read')
    return { servers: [], inputs: [], problems: problems.list }
  }
}

/** Only of a file: a pipe would keep the reader waiting, and a device never end. */
async function textOf(file: string, maxBytes: number, limit: string): Promise<string | { fault: string }> {
  try {
    return await readPlainText(file, maxBytes, limit)
  } catch (error) {
    if (error instanceof UnfitFile)
      return {
        fault: { 'not-plain': 'It is not a file', 'too-large': `It is larger than ${maxBytes} bytes (${limit})`, changed: error.message }[
          error.reason
        ],
      }
    if (codeOf(error) === 'ENOENT') return { fault: 'There is no such file' }
    return { fault: error instanceof TypeError ? 'It is not UTF-8 text' : `It cannot be read (${codeOf(error) ?? 'unknown error'})` }
  }
}
