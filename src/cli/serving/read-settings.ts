/** Puts the settings of `portico serve` together: a flag counts before a variable, and a variable before the file. */

import { dirname, resolve } from 'node:path'
import { McpError } from '../../client/index.ts'
import { NO_TEXT, readPlainText } from '../../files/plain-file.ts'
import { isModulePath } from '../authoring/server-module.ts'
import { UsageError } from '../errors.ts'
import { nearest } from '../nearest.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { fileNameOf, flagOf, LIMITS, SETTINGS, type Setting, variableOf } from './settings.ts'

/** A value in use, and where it came from: `--port`, `PORTICO_PORT`, `serve.yaml:3` or `default`. */
export interface SettingInUse {
  setting: Setting
  value: unknown
  source: string
}

export interface Settings {
  /** In the order of the documentation. */
  readonly all: readonly SettingInUse[]
  /** Undefined if it is not set and has no default. */
  get(name: string): unknown
  sourceOf(name: string): string
}

/** What the command line gives, by the name of the setting: a text, a list of limits, or true and false. */
export type Flags = ReadonlyMap<string, string | boolean>

interface Place {
  cwd: string
  env: Readonly<Record<string, string | undefined>>
}

/** A value before it is checked. */
interface Given {
  raw: unknown
  isText: boolean
  source: string
  /** Where paths begin. */
  folder: string
}

const MAX_SECRET_BYTES = 64 * 1024
const ALL = [...SETTINGS, ...LIMITS]
const NAMES = ALL.flatMap((setting) => (setting.isSecret ? [setting.name, fileNameOf(setting)] : [setting.name]))
/** Settings whose value is a path. */
const PATHS: ReadonlySet<string> = new Set(['tlsCertFile', 'tlsKeyFile'])

/** @throws UsageError or McpError ERR_CONFIG that names each wrong flag, variable or line */
export async function readSettings(flags: Flags, { cwd, env }: Place): Promise<Settings> {
  const path = flags.get('config') ?? env.PORTICO_CONFIG
  const file = typeof path === 'string' && path !== '' ? resolve(cwd, path) : undefined
  const config: ConfigFile = file === undefined ? { entries: new Map(), problems: [] } : await readConfigFile(file, String(path))
  const problems = [...config.problems, ...unknownNames(config, String(path)), ...unknownVariables(env)]
  const levels: ((name: string) => Given | undefined)[] = [
    (name) => {
      const raw = flags.get(name)
      return raw === undefined
        ? undefined
        : { raw, isText: typeof raw === 'string', source: name === 'server' ? 'argument' : flagOf(name), folder: cwd }
    },
    (name) => {
      const variable = variableOf(name)
      const raw = env[variable]
      // Many systems can set a variable to nothing, but not remove it.
      return raw === undefined || raw === '' ? undefined : { raw, isText: true, source: variable, folder: cwd }
    },
    (name) => {
      const entry = config.entries.get(name)
      return entry && { raw: entry.value, isText: false, source: `${path}:${entry.line}`, folder: dirname(file ?? cwd) }
    },
  ]
  const inUse: SettingInUse[] = []
  for (const setting of ALL) {
    try {
      inUse.push((await find(setting, levels)) ?? { setting, value: setting.default, source: 'default' })
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  if (problems.length > 0) throw problemOf(problems)
  const byName = new Map(inUse.map((each) => [each.setting.name, each]))
  return {
    all: inUse,
    get: (name) => byName.get(name)?.value,
    sourceOf: (name) => byName.get(name)?.source ?? 'default',
  }
}

/** A mistake on the command line alone is not one of the configuration. */
export const problemOf = (problems: readonly string[], cause?: unknown): Error =>
  problems.every((problem) => problem.startsWith('--'))
    ? new UsageError(problems.join('\n'))
    : new McpError('ERR_CONFIG', problems.join('\n'), { cause })

async function find(setting: Setting, levels: readonly ((name: string) => Given | undefined)[]): Promise<SettingInUse | undefined> {
  for (const level of levels) {
    const direct = level(setting.name)
    const fromFile = setting.isSecret ? level(fileNameOf(setting)) : undefined
    if (direct && fromFile) throw new Error(`${fromFile.source}: ${direct.source} gives the same setting; remove one of them`)
    if (fromFile) return { setting, value: await readSecret(setting, fromFile), source: fromFile.source }
    if (direct) return { setting, value: check(setting, direct), source: direct.source }
  }
  return undefined
}

function check(setting: Setting, { raw, isText, source, folder }: Given): unknown {
  const { kind, name, isSecret } = setting
  const value = isText ? kind.fromText(raw as string) : raw
  if (!kind.isValid(value)) {
    const fault = kind.faultIn?.(raw)
    const got = fault !== undefined ? `; ${fault}` : isSecret ? '' : `, not ${JSON.stringify(raw) ?? 'nothing'}`
    throw new Error(`${source}: ${name} must be ${kind.expects}${got}${adviceFor(raw)}`)
  }
  // A server of the command line or a variable is shown as the person wrote it.
  const isPath = PATHS.has(name) || (name === 'server' && !isText && isModulePath(value as string))
  return isPath ? resolve(folder, value as string) : value
}

/** Kubernetes sets `PORTICO_PORT` for a Service of the name `portico`. */
const adviceFor = (raw: unknown): string =>
  typeof raw === 'string' && /^tcp:\/\//.test(raw)
    ? '. Kubernetes sets it for a Service named "portico": set enableServiceLinks: false, or give the Service another name'
    : ''

async function readSecret(setting: Setting, { raw, source, folder }: Given): Promise<unknown> {
  if (typeof raw !== 'string') throw new Error(`${source}: ${fileNameOf(setting)} must be the path of a file`)
  let text: string
  try {
    text = await readPlainText(resolve(folder, raw), MAX_SECRET_BYTES)
  } catch (error) {
    throw new Error(`${source}: ${raw} cannot be read: ${(error as Error).message}`)
  }
  // Text in UTF-16 can be valid UTF-8 with such characters.
  if (text.includes('\0')) throw new Error(`${source}: ${raw} cannot be read: ${NO_TEXT}`)
  // Empty lines at the start count for the number of a wrong line.
  return check(setting, { raw: setting.kind.faultIn ? text : text.trim(), isText: true, source: `${source} (${raw})`, folder })
}

function unknownNames({ entries }: ConfigFile, path: string): string[] {
  return [...entries]
    .filter(([name]) => !NAMES.includes(name))
    .map(([name, { line }]) => {
      const meant = nearest(name, NAMES)
      return `${path}:${line}: unknown setting ${JSON.stringify(name)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`
    })
}

/** A variable that is nearly one of ours is a mistake. Others may belong to the server itself. */
function unknownVariables(env: Place['env']): string[] {
  const known = [...NAMES, 'config', 'home'].map(variableOf)
  return Object.keys(env)
    .filter((name) => name.startsWith('PORTICO_') && env[name] !== '' && !known.includes(name))
    .flatMap((name) => {
      const meant = misspelled(name, known)
      return meant === undefined ? [] : [`${name}: unknown variable; did you mean ${meant}?`]
    })
}

/** Only a slip of a letter or two: `PORTICO_PORTS_OPEN` is not `PORTICO_PORT`. In a short name, only a letter that is missing. */
function misspelled(name: string, known: readonly string[]): string | undefined {
  if (name.length <= 'PORTICO_'.length + 3)
    return known.find((each) => [...each].some((_letter, at) => each.slice(0, at) + each.slice(at + 1) === name))
  const meant = nearest(name, known)
  return meant !== undefined && Math.abs(meant.length - name.length) <= 2 ? meant : undefined
}
