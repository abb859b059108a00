/** Reads servers from configuration files. Nothing is started or written. A bad entry or file does not affect the others. */

import { basename, resolve } from 'node:path'
import { counted } from '../../base/text/counted.ts'
import { readPlainText, UnfitFile } from '../../files/plain-file.ts'
import { codeOf } from '../../files/private-file.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { detectSyntax } from './detect-format.ts'
import { claudeCodeState } from './formats/claude-code.ts'
import { type ConfigLimits, DEFAULT_CONFIG_LIMITS } from './limits.ts'
import { parse } from './parse-document.ts'
import { collectProblems, Refused } from './problem.ts'
import { type ConfigFile, type ReadConfig, type ReadConfigOptions, readDocument } from './read-document.ts'
import { freeName } from './server-names.ts'

/** Reads one or several configuration files. Never rejects: everything that cannot be read is listed in `problems`. */
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
      all.problems.push({
        file: source.file,
        where: '',
        text: `This file and the following are not read: there are more than ${limits.maxFiles} (maxFiles)`,
      })
      break
    }
    const one = await readOne(source, options, limits)
    const room = limits.maxServers - all.servers.length
    if (one.servers.length > room) {
      const text = `All files together have more than ${limits.maxServers} servers; ${counted(one.servers.length - room, 'is', 'are')} ignored (maxServers)`
      all.problems.push({ file: source.file, where: '', text })
    }
    for (const spec of one.servers.slice(0, room)) {
      const id = freeName(spec.id, taken)
      if (id !== spec.id)
        all.problems.push({ file: source.file, where: spec.id, text: `Another server has this name; this one is renamed to ${id}` })
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
  const isState = source.format === claudeCodeState || basename(file) === '.claude.json'
  const text = await textOf(file, isState ? limits.maxStateBytes : limits.maxFileBytes, isState ? 'maxStateBytes' : 'maxFileBytes')
  if (typeof text === 'string') return readText(text, { ...source, file }, { ...options, limits })
  return { servers: [], inputs: [], problems: [{ file, where: '', text: text.fault }] }
}

/** Reads the servers from the text of a file. */
export function readText(text: string, source: ConfigFile, options: ReadConfigOptions = {}): ReadConfig {
  const limits = withDefaults(DEFAULT_CONFIG_LIMITS, options.limits)
  const problems = collectProblems(source.file, limits.maxProblems)
  try {
    // An empty file is valid: some clients create it before they write to it.
    if (text.trim() === '') return { servers: [], inputs: [], problems: problems.list }
    const document = parse(text, detectSyntax(source.file), problems.add)
    const { servers, inputs } = readDocument(document, source, { ...options, limits }, problems.add)
    return { servers, inputs, problems: problems.list }
  } catch (error) {
    if (error instanceof Refused) problems.add(error.where, error.message)
    else problems.add('', 'The file cannot be read')
    return { servers: [], inputs: [], problems: problems.list }
  }
}

/** Reads regular files only: a pipe could block forever, and a device may never end. */
async function textOf(file: string, maxBytes: number, limit: string): Promise<string | { fault: string }> {
  try {
    return await readPlainText(file, maxBytes, limit)
  } catch (error) {
    if (error instanceof UnfitFile)
      return {
        fault: {
          'not-plain': 'Not a regular file',
          'too-large': `The file is larger than ${maxBytes} bytes (${limit})`,
          'not-text': error.message,
          changed: error.message,
        }[error.reason],
      }
    if (codeOf(error) === 'ENOENT') return { fault: 'File not found' }
    return { fault: `The file cannot be read (${codeOf(error) ?? 'unknown error'})` }
  }
}
