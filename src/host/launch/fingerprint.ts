/**
 * What a server is, in one short text: the program and its arguments, or the address. Consent to start it, and everything
 * granted to it, is for this and ends with it; its name in a configuration says nothing.
 */

import { existsSync } from 'node:fs'
import { redactText } from '../../base/text/redact.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import { digestOf } from '../model/digest.ts'
import type { HttpTransport, ServerTransport, StdioTransport } from '../model/server-spec.ts'
import { looksLikeCode } from './code.ts'
import { type EntryFileFacts, entryFilesOf, folderOf, packagesOf } from './entry-file.ts'
import type { FoundProgram } from './find-program.ts'
import { partsOf as partsOfText } from './placeholder.ts'
import { envValue, fillKnown } from './resolve.ts'

/** One thing that makes a server what it is. */
export interface FingerprintPart {
  /** For people: `argument 2`, `environment variable TOKEN`. */
  name: string
  /** Of the whole value. Values themselves are not kept: somebody may have written a secret into one. */
  digest: string
  /** What may be kept of it: the value itself, unless there may be a secret in it. */
  shown: string
}

/**
 * Where a process would run. It is kept to tell people of a change, and does not count by itself: a server whose files are
 * named in full is the same in every folder.
 */
const FOLDER = 'folder'

export interface Fingerprint {
  fingerprint: string
  parts: readonly FingerprintPart[]
  /** What a person should know before they agree: that somebody else decides which program it will be next time. */
  warnings: readonly string[]
  /** What a process would run, as it was found in this look. */
  launch?: Launch
}

export interface Launch {
  program: FoundProgram | undefined
  /** Real paths: the programs that it starts in turn, and the files that it names. */
  files: readonly string[]
  /** It runs code that the command does not name, and that can change without a trace in the fingerprint. */
  runsUnnamed: boolean
}

/** What is known of a server beyond its configuration. */
export interface FingerprintFacts extends EntryFileFacts {
  issuer?: string
  resource?: string
  info?: Implementation
  /** Values of `${input:NAME}` that are known by now; those of `${env:NAME}` always are. */
  inputs?: ReadonlyMap<string, string>
}

/** @param way as it is configured, with its placeholders: what a secret is now is not part of what the server is */
export async function fingerprintOf(transport: ServerTransport, facts: FingerprintFacts = {}): Promise<Fingerprint> {
  const { parts, warnings, launch } = await partsOf(transport, facts)
  return {
    fingerprint: digestOf(parts.flatMap(({ name, digest }) => (name === FOLDER ? [] : [[name, digest]]))),
    parts,
    warnings,
    ...(launch && { launch }),
  }
}

/**
 * In words, one for each part that is not what it was. No value in them is shortened or masked: one that is not kept whole
 * is not told, and the question shows what it is now.
 */
export function fingerprintChanges(
  before: readonly FingerprintPart[],
  after: readonly FingerprintPart[],
  isThere: (file: string) => boolean = existsSync,
): string[] {
  const [left, right] = [new Map(before.map((part) => [part.name, part])), new Map(after.map((part) => [part.name, part]))]
  const names = new Set([FOLDER, ...left.keys(), ...right.keys()])
  const isSame = (name: string): boolean => left.get(name)?.digest === right.get(name)?.digest
  // A record that was kept before folders were says nothing about the folder.
  const isFolderTold = left.has(FOLDER) && right.has(FOLDER)
  const isSameCommand = [...names].every((name) => isSame(name) || !/^(?:command$|argument |environment |working |folder$)/.test(name))
  const programs = new Set(
    [...names].flatMap((name) => (/^program(?: |$)/.test(name) && isSame(name) ? (left.get(name)?.digest ?? []) : [])),
  )
  return [...names].flatMap((name) => {
    const [was, is] = [left.get(name), right.get(name)]
    if (isSame(name)) return []
    if (name === FOLDER) return isFolderTold ? [`the folder was ${was?.shown} and is ${is?.shown} now`] : []
    if (name === 'working folder' && isFolderTold && !isSame(FOLDER)) return []
    const [, file] = /^content of (.*)$/s.exec(name) ?? []
    if (file === undefined) return [changeOf(name, was, is)]
    if (was && is) return [`the file ${file} has changed since you agreed`]
    // The same program at the same place. Whether its content counts depends on the folder.
    if (programs.has(digestOf(file))) return []
    if (was) return [isThere(file) ? `the command no longer names the file ${file}` : `the file ${file} is not there any more`]
    return [isSameCommand ? `the file ${file} is new` : `the command now names the file ${file}`]
  })
}

function changeOf(name: string, was: FingerprintPart | undefined, is: FingerprintPart | undefined): string {
  const said = name.replace(/^(?:environment )?(?=variable |header )/, 'the ')
  if (!was) return is && isWhole(is) ? `${said} is new: ${is.shown}` : `${said} is new`
  if (!is) return isWhole(was) ? `${said} is gone: ${was.shown}` : `${said} is gone`
  if (isWhole(was) && isWhole(is)) return `${said}: ${was.shown} → ${is.shown}`
  return said === name ? `${said} is another one` : `${said} has another value`
}

/** What is shown of it is the value itself. */
const isWhole = ({ digest, shown }: FingerprintPart): boolean => digest === digestOf(shown)
const RUNS_UNNAMED = 'The command runs code that it does not name; a yes is for the command only, not for what that code is by then'

interface Parts {
  parts: FingerprintPart[]
  warnings: string[]
  launch?: Launch
}

async function partsOf(transport: ServerTransport, facts: FingerprintFacts): Promise<Parts> {
  if (transport.type === 'stdio') return processParts(transport, facts)
  if (transport.type === 'http') return { parts: httpParts(transport, facts), warnings: [] }
  const { name = 'unnamed', version = '' } = facts.info ?? {}
  return { parts: [part('transport', 'memory'), part('name', name), part('version', version)], warnings: [] }
}

async function processParts(transport: StdioTransport, facts: FingerprintFacts): Promise<Parts> {
  // Parts have the texts as they are written; files are looked for where the filled in texts say.
  const filled = fillKnown(transport, ({ kind, name, fallback }) =>
    kind === 'env'
      ? envValue({ name, ...(fallback !== undefined && { fallback }) })
      : kind === 'input'
        ? facts.inputs?.get(name)
        : undefined,
  )
  const files = await entryFilesOf(filled, facts)
  const packages = await packagesOf(filled, facts)
  const unpinned = packages.filter(({ isPinned }) => !isPinned)
  return {
    launch: {
      program: files.program,
      files: [...new Set([...files.inner.map(({ real }) => real), ...files.contents.map(({ path }) => path)])],
      runsUnnamed: files.runsUnnamed || unpinned.length > 0,
    },
    parts: [
      part('transport', 'stdio'),
      part(FOLDER, shownFolder(transport, facts)),
      part('command', transport.command),
      ...transport.args.map((value, i) => part(`argument ${i + 1}`, value)),
      ...(transport.cwd === undefined ? [] : [part('working folder', transport.cwd)]),
      ...named('environment variable', transport.env),
      part('program', files.program?.real ?? 'not found'),
      ...files.inner.map(({ name, real }) => part(`program ${name}`, real)),
      ...files.contents.map(({ path, digest }) => ({ name: `content of ${path}`, digest, shown: digest.slice(0, 12) })),
      ...packages.flatMap(({ name, integrity }) => (integrity === undefined ? [] : [part(`package ${name}`, integrity)])),
    ],
    warnings: [
      ...(files.program === undefined ? [`No program ${transport.command} was found`] : []),
      ...(files.hasCode ? ['The command holds code itself, which can run files and programs that are not listed here'] : []),
      ...(!files.hasCode && looksLikeCode(filled.args)
        ? ['An argument looks like code, which can run files and programs that are not listed here']
        : []),
      ...(files.runsUnnamed ? [RUNS_UNNAMED] : []),
      ...unpinned.map(({ spec }) => `${spec} is whatever version is published when it starts; name a version to keep one`),
    ],
  }
}

/** As questions show it: with the placeholders that were written, not with what is filled in for them. */
const shownFolder = (transport: StdioTransport, facts: FingerprintFacts): string =>
  transport.cwd !== undefined && partsOfText(transport.cwd).some((each) => 'placeholder' in each)
    ? transport.cwd
    : folderOf(transport, facts)

function httpParts({ url, headers }: HttpTransport, { issuer, resource }: FingerprintFacts): FingerprintPart[] {
  return [
    part('transport', 'http'),
    ...addressParts(url),
    ...named('header', headers),
    ...(issuer === undefined ? [] : [part('authorization server', issuer)]),
    ...(resource === undefined ? [] : [part('resource', resource)]),
  ]
}

/** With a placeholder in the host it may be no address yet; then it is compared as it is written. */
function addressParts(text: string): FingerprintPart[] {
  if (!URL.canParse(text)) return [part('address', text)]
  const { origin, protocol, username, password, pathname, search } = new URL(text)
  return [
    part('host', origin === 'null' ? protocol : origin),
    part('path', pathname),
    ...(search === '' ? [] : [hidden('query', search)]),
    ...(username === '' && password === '' ? [] : [hidden('user information', `${username}:${password}`)]),
  ]
}

const named = (what: string, values: Readonly<Record<string, string>>): FingerprintPart[] =>
  Object.entries(values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => (isPlaceholder(value) ? part(`${what} ${name}`, value) : hidden(`${what} ${name}`, value)))

/** Says where a value comes from, and nothing of the value. */
const isPlaceholder = (value: string): boolean => /^\$\{[a-zA-Z]+:[^${}]*\}$/.test(value)

const part = (name: string, value: string): FingerprintPart => ({ name, digest: digestOf(value), shown: redactText(value) })

/** For what is likely to be secret: only that it is there. */
const hidden = (name: string, value: string): FingerprintPart => ({ name, digest: digestOf(value), shown: 'a value that is not shown' })
