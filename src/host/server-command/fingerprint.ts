/**
 * The fingerprint of a server: the digest of its program and arguments, or of its address. Approvals and grants are bound to the
 * fingerprint and end when it changes. The name in a configuration is not part of it.
 */

import { existsSync } from 'node:fs'
import { isSecretName, redactText } from '../../base/text/redact.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import { digestOf } from '../model/digest.ts'
import type { HttpTransport, ServerTransport, StdioTransport } from '../model/server-spec.ts'
import { looksLikeCode } from './detect-code.ts'
import { findEntryFiles } from './entry-files.ts'
import type { FoundProgram } from './find-program.ts'
import { type EntryFileFacts, folderOf } from './launch-context.ts'
import { type Placeholder, partsOf as partsOfText, textsOf } from './placeholder.ts'
import { envValue, fillKnown } from './resolve-placeholders.ts'
import { findPackages } from './run-packages.ts'

/** One component of a fingerprint. */
export interface FingerprintPart {
  /** For display: `argument 2`, `environment variable TOKEN`. */
  name: string
  /** The digest of the whole value. The value itself is not stored, because it may contain a secret. */
  digest: string
  /** The value, or a replacement if it may contain a secret. */
  shown: string
}

/**
 * The part for the working folder. It is stored to describe changes, but is not part of the fingerprint: a server whose files have
 * absolute paths is the same in every folder.
 */
const FOLDER = 'folder'

export interface Fingerprint {
  fingerprint: string
  parts: readonly FingerprintPart[]
  /** Warnings for the person before the approval, for example that the program can change later. */
  warnings: readonly string[]
  /** The program and files of a process, as found now. */
  launch?: Launch
}

export interface Launch {
  program: FoundProgram | undefined
  /** Real paths of the programs that it starts in turn, and of the files that it names. */
  files: readonly string[]
  /** The command runs code that it does not name, which can change without changing the fingerprint. */
  runsUnnamed: boolean
  /** The command runs a package without naming its version. */
  hasUnpinned: boolean
  /** The version of the package that the command runs, if it is known without the network. */
  version: string | undefined
}

/** Facts about a server besides its configuration. */
export interface FingerprintFacts extends EntryFileFacts {
  info?: Implementation
  /** The known values of `${input:NAME}`. Values of `${env:NAME}` are always known. */
  inputs?: ReadonlyMap<string, string>
}

/** @param transport as configured, with its placeholders: the values of secrets are not part of the fingerprint */
export async function fingerprintOf(transport: ServerTransport, facts: FingerprintFacts = {}): Promise<Fingerprint> {
  const { parts, warnings, launch } = await readParts(transport, facts)
  return {
    fingerprint: digestOf(parts.flatMap(({ name, digest }) => (name === FOLDER ? [] : [[name, digest]]))),
    parts,
    warnings,
    launch,
  }
}

/**
 * Describes the differences between two fingerprints, one text per part. Values are never shortened or masked: a value that is not
 * stored whole is left out, and the question shows the current one.
 */
export function fingerprintChanges(
  before: readonly FingerprintPart[],
  after: readonly FingerprintPart[],
  isThere: (file: string) => boolean = existsSync,
): string[] {
  const [left, right] = [new Map(before.map((part) => [part.name, part])), new Map(after.map((part) => [part.name, part]))]
  const names = new Set([FOLDER, ...left.keys(), ...right.keys()])
  const isSame = (name: string): boolean => left.get(name)?.digest === right.get(name)?.digest
  // Old records have no folder part.
  const isFolderTold = left.has(FOLDER) && right.has(FOLDER)
  const isSameCommand = [...names].every((name) => isSame(name) || !/^(?:command$|argument |environment |working |folder$)/.test(name))
  const programs = new Set(
    [...names].flatMap((name) => (/^program(?: |$)/.test(name) && isSame(name) ? (left.get(name)?.digest ?? []) : [])),
  )
  // The same command in another folder finds other files and programs. The old ones are not gone: they are not used here.
  const isSameElsewhere =
    isFolderTold && !isSame(FOLDER) && [...names].every((name) => isSame(name) || !/^(?:command$|argument |environment )/.test(name))
  const unused = [...names].filter((name) => isSameElsewhere && !right.has(name) && DEPENDS_ON_FOLDER.test(name))
  const changes = [...names].flatMap((name) => {
    const [was, is] = [left.get(name), right.get(name)]
    if (isSame(name) || unused.includes(name)) return []
    if (name === FOLDER) return isFolderTold ? [`the folder was ${was?.shown} and is ${is?.shown} now`] : []
    if (name === 'working folder' && isFolderTold && !isSame(FOLDER)) return []
    // The text with the variable differs, which is told already.
    if (name.startsWith(VALUE_OF) && !isSame(name.slice(VALUE_OF.length))) return []
    const [, file] = /^content of (.*)$/s.exec(name) ?? []
    if (file === undefined) return [describeChange(name, was, is)]
    if (was && is) return [`the file ${file} has changed since you approved it`]
    // The program and its path are unchanged. Whether its content counts depends on the folder.
    if (programs.has(digestOf(file))) return []
    if (was) return [isThere(file) ? `the command no longer names the file ${file}` : `the file ${file} no longer exists`]
    return [isSameCommand ? `the file ${file} is new` : `the command now names the file ${file}`]
  })
  return unused.length === 0 ? changes : [...changes, `not used in this folder: ${unused.map(withoutContent).join(', ')}`]
}

/** The parts that are found in the folder, not written in the configuration. */
const DEPENDS_ON_FOLDER = /^(?:program |content of |package |version of )/

const withoutContent = (name: string): string => name.replace(/^content of /, '')

function describeChange(name: string, was: FingerprintPart | undefined, is: FingerprintPart | undefined): string {
  const said = name.replace(/^(?:environment )?(?=variable |header )/, 'the ').replace(/^value of (?:environment )?/, 'the value of ')
  if (!was) return is && isWhole(is) ? `${said} is new: ${is.shown}` : `${said} is new`
  if (!is) return isWhole(was) ? `${said} is gone: ${was.shown}` : `${said} is gone`
  if (isWhole(was) && isWhole(is)) return `${said}: ${was.shown} → ${is.shown}`
  return `${said} has changed`
}

const VERSION_OF = 'version of '
const VALUE_OF = 'value of '

/**
 * How the versions of packages differ. `found`: versions that were not known before are known now. `changed`: a known version is another
 * one, whatever else differs. `other`: something else differs.
 */
export function versionChanges(before: Fingerprint, now: Fingerprint): 'none' | 'found' | 'changed' | 'other' {
  if (before.fingerprint === now.fingerprint) return 'none'
  const [known, present] = [before, now].map(({ parts }) => new Map(parts.map(({ name, digest }) => [name, digest]))) as [
    Map<string, string>,
    Map<string, string>,
  ]
  const names = [...new Set([...known.keys(), ...present.keys()])].filter(
    (name) => name !== FOLDER && known.get(name) !== present.get(name),
  )
  // First, because a version that changed with something else is still another one.
  if (names.some((name) => name.startsWith(VERSION_OF) && known.has(name))) return 'changed'
  return names.every((name) => name.startsWith(VERSION_OF)) ? 'found' : 'other'
}

/** Whether `shown` is the whole value. */
const isWhole = ({ digest, shown }: FingerprintPart): boolean => digest === digestOf(shown)

const RUNS_UNNAMED = 'The command runs code that it does not name. You approve the command only: that code can change later'

interface Parts {
  parts: FingerprintPart[]
  warnings: string[]
  launch?: Launch
}

async function readParts(transport: ServerTransport, facts: FingerprintFacts): Promise<Parts> {
  if (transport.type === 'stdio') return processParts(transport, facts)
  if (transport.type === 'http') return { parts: httpParts(transport), warnings: [] }
  const { name = 'unnamed', version = '' } = facts.info ?? {}
  return { parts: [part('transport', 'memory'), part('name', name), part('version', version)], warnings: [] }
}

async function processParts(transport: StdioTransport, facts: FingerprintFacts): Promise<Parts> {
  // The parts use the texts as written; files are searched with the placeholders filled in.
  const filled = fillKnown(transport, ({ kind, name, fallback }) =>
    kind === 'env' ? envValue({ name, fallback }) : kind === 'input' ? facts.inputs?.get(name) : undefined,
  )
  const files = await findEntryFiles(filled, facts)
  const packages = await findPackages(filled, facts)
  const unpinned = packages.filter(({ isPinned }) => !isPinned)
  return {
    launch: {
      program: files.program,
      files: [...new Set([...files.inner.map(({ real }) => real), ...files.contents.map(({ path }) => path)])],
      runsUnnamed: files.runsUnnamed,
      hasUnpinned: unpinned.length > 0,
      version: packages[0]?.version,
    },
    parts: [
      part('transport', 'stdio'),
      part(FOLDER, shownFolder(transport, facts)),
      part('command', transport.command),
      ...transport.args.map((value, i) => part(`argument ${i + 1}`, value)),
      ...(transport.cwd === undefined ? [] : [part('working folder', transport.cwd)]),
      ...named('environment variable', transport.env),
      ...variableValues(transport),
      part('program', files.program?.real ?? 'not found'),
      ...files.inner.map(({ name, real }) => part(`program ${name}`, real)),
      ...files.contents.map(({ path, digest }) => ({ name: `content of ${path}`, digest, shown: digest.slice(0, 12) })),
      ...packages.flatMap(({ name, integrity }) => (integrity === undefined ? [] : [part(`package ${name}`, integrity)])),
      ...unpinned.flatMap(({ name, version, installedIn }) =>
        // A package in a project is not the published one, even if it says so.
        version === undefined ? [] : [part(`${VERSION_OF}${name}`, installedIn === undefined ? version : `${version} in ${installedIn}`)],
      ),
    ],
    warnings: [
      ...(files.program === undefined ? [`The program ${transport.command} was not found`] : []),
      ...(files.hasCode ? ['The command contains code, which can run files and programs that are not listed here'] : []),
      ...(!files.hasCode && looksLikeCode(filled.args)
        ? ['An argument looks like code, which can run files and programs that are not listed here']
        : []),
      ...(files.runsUnnamed ? [RUNS_UNNAMED] : []),
      ...unpinned.map(({ spec, version }) =>
        version === undefined
          ? `${spec} has no fixed version: the latest published version runs. Name a version to pin it`
          : `${spec} has no fixed version: ${version} is on this computer. You are asked again about another version`,
      ),
    ],
  }
}

/**
 * The texts that contain variables of the host, with the values: another value can run something else. Only the digest is stored. The
 * values of secrets change in daily use, and are refused where they decide what runs.
 */
function variableValues(transport: StdioTransport): FingerprintPart[] {
  const isShown = ({ kind, name }: Placeholder): boolean => kind === 'env' && !isSecretName(name)
  const filled = textsOf(fillKnown(transport, (placeholder) => (isShown(placeholder) ? envValue(placeholder) : undefined)))
  return textsOf(transport).flatMap(({ where, text }, at) =>
    partsOfText(text).some((each) => 'placeholder' in each && isShown(each.placeholder))
      ? [hidden(`${VALUE_OF}${partName(where)}`, filled[at]?.text ?? '')]
      : [],
  )
}

const partName = (where: string): string =>
  where === 'cwd'
    ? 'working folder'
    : where.replace(/^args\[(\d+)\]$/, (_, at) => `argument ${Number(at) + 1}`).replace(/^env\./, 'environment variable ')

/** The folder as questions show it: with placeholders, not with their values. */
const shownFolder = (transport: StdioTransport, facts: FingerprintFacts): string =>
  transport.cwd !== undefined && partsOfText(transport.cwd).some((each) => 'placeholder' in each)
    ? transport.cwd
    : folderOf(transport, facts)

const httpParts = ({ url, headers }: HttpTransport): FingerprintPart[] => [
  part('transport', 'http'),
  ...addressParts(url),
  ...named('header', headers),
]

/** With a placeholder in the host the text may not be a URL yet. It is then compared as written. */
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

/** A placeholder names the source of a value, and reveals nothing of the value. */
const isPlaceholder = (value: string): boolean => /^\$\{[a-zA-Z]+:[^${}]*\}$/.test(value)

const part = (name: string, value: string): FingerprintPart => ({ name, digest: digestOf(value), shown: redactText(value) })

/** For values that are likely to be secret: only their presence is shown. */
const hidden = (name: string, value: string): FingerprintPart => ({ name, digest: digestOf(value), shown: '(hidden)' })
