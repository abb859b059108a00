/** The settings of a server as texts of a form, and back. */

import type { ChangedSettings, ServerSettings } from '../../../src/console/api.ts'

export interface SettingsDraft {
  title: string
  tier: string
  labels: string
  /** Seconds. */
  timeout: string
  /** Undefined: the server is reached at an address. */
  command?: string
  args: string
  cwd: string
  env: string
  /** Undefined: the server is a command. */
  url?: string
  headers: string
  /** Folders, one in a line. */
  roots: string
  /** A protocol revision, or several with commas. Empty: all. */
  revisions: string
  /** Empty: the host finds out. */
  httpTransport: string
}

export function draftOf(settings: ServerSettings): SettingsDraft {
  const {
    title = '',
    tier,
    labels,
    timeoutMs,
    command,
    args = [],
    cwd = '',
    env = {},
    url,
    headers = {},
    roots,
    revisions = [],
    httpTransport = '',
  } = settings
  return {
    title,
    tier,
    labels: labels.join(', '),
    timeout: timeoutMs === undefined ? '' : String(timeoutMs / 1_000),
    ...(command !== undefined && { command }),
    args: args.join('\n'),
    cwd,
    env: pairsText(env, '='),
    ...(url !== undefined && { url }),
    headers: pairsText(headers, ': '),
    roots: roots.join('\n'),
    revisions: revisions.join(', '),
    httpTransport,
  }
}

const pairsText = (pairs: Readonly<Record<string, string>>, sign: string): string =>
  Object.entries(pairs)
    .map(([name, value]) => `${name}${sign}${value}`)
    .join('\n')

/** Only what differs, so that hidden values that were not touched stay as they are. */
export function changedSettings(
  before: SettingsDraft,
  draft: SettingsDraft,
): { changes: ChangedSettings; faults: { env?: string; headers?: string; timeoutMs?: string } } {
  const changes: { -readonly [Name in keyof ChangedSettings]: ChangedSettings[Name] } = {}
  const faults: { env?: string; headers?: string; timeoutMs?: string } = {}
  if (draft.title !== before.title) changes.title = draft.title.trim() === '' ? null : draft.title.trim()
  if (draft.tier !== before.tier) changes.tier = draft.tier as NonNullable<ChangedSettings['tier']>
  if (draft.labels !== before.labels)
    changes.labels = draft.labels
      .split(',')
      .map((label) => label.trim())
      .filter(Boolean)
  if (draft.command !== undefined && draft.command !== before.command) changes.command = draft.command.trim()
  if (draft.args !== before.args) changes.args = draft.args.split('\n').filter((line) => line !== '')
  if (draft.roots !== before.roots)
    changes.roots = draft.roots
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
  if (draft.cwd !== before.cwd) changes.cwd = draft.cwd.trim() === '' ? null : draft.cwd.trim()
  if (draft.url !== undefined && draft.url !== before.url) changes.url = draft.url.trim()
  if (draft.revisions !== before.revisions) changes.revisions = draft.revisions === '' ? null : draft.revisions.split(', ')
  if (draft.httpTransport !== before.httpTransport)
    changes.httpTransport = draft.httpTransport === '' ? null : (draft.httpTransport as NonNullable<ServerSettings['httpTransport']>)
  if (draft.env !== before.env) {
    const changed = changedPairs(before.env, draft.env, '=')
    if (typeof changed === 'string') faults.env = changed
    else changes.env = changed
  }
  if (draft.headers !== before.headers) {
    const changed = changedPairs(before.headers, draft.headers, ':')
    if (typeof changed === 'string') faults.headers = changed
    else changes.headers = changed
  }
  if (draft.timeout !== before.timeout) {
    const seconds = Number(draft.timeout)
    if (draft.timeout.trim() === '') changes.timeoutMs = null
    else if (Number.isFinite(seconds) && seconds > 0) changes.timeoutMs = Math.round(seconds * 1_000)
    else faults.timeoutMs = `Expected a number above 0, got "${draft.timeout}"`
  }
  return { changes, faults }
}

/** The pairs that differ; `null` for those that are gone. A text: the fault. */
function changedPairs(before: string, after: string, sign: string): Record<string, string | null> | string {
  const old = pairsOf(before, sign)
  const now = pairsOf(after, sign)
  if (typeof now === 'string') return now
  if (typeof old === 'string') return old
  const changed: Record<string, string | null> = {}
  for (const [name, value] of now) if (old.get(name) !== value) changed[name] = value
  for (const name of old.keys()) if (!now.has(name)) changed[name] = null
  return changed
}

function pairsOf(text: string, sign: string): Map<string, string> | string {
  const pairs = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const at = line.indexOf(sign)
    if (at <= 0) return `Expected NAME${sign}value, got "${line}"`
    pairs.set(line.slice(0, at).trim(), line.slice(at + sign.length).trim())
  }
  return pairs
}

/** A secret that a setting names in place of its value. */
export interface SecretHandle {
  name: string
  /** Where it is used: `API_KEY`, `argument 2`. */
  places: readonly string[]
}

const HANDLE = /\$\{secret:([^}]+)\}/g

export function secretHandles({ args = [], env = {}, headers = {}, url = '' }: ServerSettings): SecretHandle[] {
  const texts: readonly (readonly [string, string])[] = [
    ...args.map((text, at) => [`argument ${at + 1}`, text] as const),
    ...Object.entries(env),
    ...Object.entries(headers),
    ['address', url],
  ]
  const found = new Map<string, string[]>()
  for (const [place, text] of texts) for (const [, name = ''] of text.matchAll(HANDLE)) found.set(name, [...(found.get(name) ?? []), place])
  return [...found].map(([name, places]) => ({ name, places }))
}

/** The revisions to choose from. A list of several stays a choice, because a file can have it. */
export function revisionChoices(known: readonly string[], chosen: string): { value: string; label: string }[] {
  const newest = known.at(-1)
  const all = [...known].reverse().map((value) => ({ value, label: value === newest ? `${value} (newest)` : value }))
  const several = chosen !== '' && !known.includes(chosen) ? [{ value: chosen, label: chosen }] : []
  return [{ value: '', label: 'automatic: the newest that both know' }, ...several, ...all]
}

export const TRANSPORT_CHOICES = [
  { value: '', label: 'automatic: found out at the start' },
  { value: 'streamable-http', label: 'Streamable HTTP' },
  { value: 'sse', label: 'HTTP with SSE (the oldest)' },
]
