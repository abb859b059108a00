/** Finds plain values in a configuration that look like secrets: by their name, by a known form, or because they look random. */

import { isSecretName, redactText } from '../../base/text/redact.ts'
import type { ServerSpec } from '../model/server-spec.ts'
import type { Vault } from '../secrets/vault.ts'
import { looksLikeCode } from '../server-command/detect-code.ts'
import { mapTexts, partsOf, placeholderText, textsOf } from '../server-command/placeholder.ts'
import { mayChangeWhatRuns } from '../server-command/risky-variables.ts'
import { isOriginComplete } from './address.ts'
import { isKnownOption, isPlace, isPlainValue, mayBeFirstWord, runsCode, wordsAfterCode } from './command-words.ts'

/** The position of a value that looks like a secret. Never the value itself. */
export interface PlainSecret {
  /** `env.TOKEN`, `args[2]`, `headers.Authorization`, `url`. */
  where: string
  because: 'name' | 'form' | 'disorder'
  start: number
  end: number
  /** The length of the value. */
  chars: number
  /**
   * Whether `moveSecrets` moves it to the vault: only the value of a known option, a variable, a header or a part of a URL that no
   * shell or program would run. Values in the vault are hidden in the question before a server starts, so code must stay visible.
   */
  isMovable: boolean
}

/**
 * Finds the values in a server's configuration that look like secrets.
 *
 * @example
 * for (const { where, chars } of plainSecrets(spec)) console.log(`${where}: ${chars} characters look like a secret`)
 */
export function plainSecrets({
  transport,
  provenance = [],
}: Pick<ServerSpec, 'transport'> & Partial<Pick<ServerSpec, 'provenance'>>): PlainSecret[] {
  const texts = textsOf(transport)
  // Others may have written the file of a project, so all of it stays visible.
  const isMovable = provenance.some(({ scope }) => scope === 'project') ? () => false : movableCheck(transport)
  return texts.flatMap(({ where, text }, i): PlainSecret[] => {
    if (where === 'command' || where === 'cwd') return []
    // `--token` and its value are two arguments.
    const before = where.startsWith('args[') ? texts[i - 1]?.text : undefined
    const beside = nextName(where, text, before)
    const spot = findSecret(text, beside)
    const spots = where === 'url' ? findSecretsInUrl(text) : spot ? [spot] : []
    return spots.map((each) => ({
      where,
      ...each,
      chars: each.end - each.start,
      isMovable: isMovable({
        where,
        before: text.slice(0, each.start),
        value: text.slice(each.start, each.end),
        beside,
        isWhole: each.start === beside.start && each.end === text.length,
      }),
    }))
  })
}

interface SecretPlace {
  where: string
  /** The text before the value. */
  before: string
  value: string
  beside: NextName
  /** Whether the value is the whole text, or everything after the equals sign. */
  isWhole: boolean
}

function movableCheck(transport: ServerSpec['transport']): (place: SecretPlace) => boolean {
  if (transport.type !== 'stdio') {
    // A placeholder before the path would hide the origin of the URL.
    return ({ where, before, value }) => !/[\r\n]/.test(value) && (where !== 'url' || isOriginComplete(before))
  }
  const words = [transport.command, ...transport.args]
  const code = wordsAfterCode(words)
  // Code can execute any argument and any variable.
  if (runsCode(words) || looksLikeCode(transport.args)) return () => false
  return ({ where, value, beside, isWhole }) => {
    if (!isPlainValue(value) || isPlace(value)) return false
    const [, argument] = /^args\[(\d+)\]$/.exec(where) ?? []
    if (argument === undefined) return !mayChangeWhatRuns(where.slice('env.'.length))
    const at = Number(argument) + 1
    return beside.isOption && isWhole && at < code && (beside.start > 0 || !mayBeFirstWord(words, at))
  }
}

interface NextName {
  name: string
  /** It is a known option that takes a secret: `--token VALUE`, `--token=VALUE`. */
  isOption: boolean
  /** Where the value begins in `--token=value`. */
  start: number
}

function nextName(where: string, text: string, before: string | undefined): NextName {
  const named = /^(?:env|headers)\.(.+)$/s.exec(where)?.[1]
  if (named !== undefined) return { name: named, start: 0, isOption: false }
  const assigned = /^-{0,2}([\w.-]{1,64})[=:](?!\/\/)/.exec(text)
  if (assigned) {
    const { 0: whole, 1: assignedTo = '' } = assigned
    return { name: assignedTo, start: whole.length, isOption: /^--[^-].*=$/.test(whole) && isKnownOption(assignedTo) }
  }
  const option = before === undefined || text.startsWith('-') ? undefined : /^--?([\w.-]{1,64})$/.exec(before)?.[1]
  return { name: option ?? '', start: 0, isOption: option !== undefined && before?.startsWith('--') === true && isKnownOption(option) }
}

type SecretRange = Pick<PlainSecret, 'because' | 'start' | 'end'>

function findSecret(text: string, { name, start }: Pick<NextName, 'name' | 'start'>): SecretRange | undefined {
  const value = text.slice(start)
  const parts = partsOf(value)
  const literals = parts.flatMap((part) => ('literal' in part ? [part.literal] : []))
  const isPlain = literals.length === parts.length
  // Text around a placeholder is rarely a secret, and cannot be moved together with it.
  if (!isPlain) {
    const secret = parts.find((part) => 'literal' in part && redactText(part.literal) !== part.literal)
    return secret && { because: 'form', start: start + secret.start, end: start + secret.end }
  }
  const whole = { start, end: text.length }
  if (redactText(value) !== value) return { because: 'form', ...whole }
  if (isDisordered(value)) return { because: 'disorder', ...whole }
  return isSecretName(name) && mayBeSecret(value) ? { because: 'name', ...whole } : undefined
}

const MIN_CHARS = 4

/** Not a number, a boolean, a path or an address, which are typical for names such as `TOKEN_LIMIT` and `TOKEN_FILE`. */
const mayBeSecret = (value: string): boolean =>
  value.length >= MIN_CHARS &&
  !/^(?:\d{1,6}|true|false|yes|no|none|null)$/i.test(value) &&
  !/^(?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/]|https?:\/\/)/.test(value)

/** Checks each segment of a path separately. */
const isDisordered = (value: string): boolean => (/^(?:~|\.{1,2})?\//.test(value) ? value.split('/') : [value]).some(isRandom)

/** Whether a word looks random. Package names and identifiers usually have one case, or no digits. */
function isRandom(word: string): boolean {
  if (word.length < 20 || word.length > 4096 || !/^[A-Za-z0-9+/=_-]+$/.test(word)) return false
  if (/^[0-9a-f]{32,}$/i.test(word)) return entropy(word) > 3
  return /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word) && entropy(word) > 3.8
}

/** Shannon entropy in bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

const PASSWORD = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@?#\\]{0,256}:([^\s/@?#\\]{1,1024})@/i
const PARAMETER = /[?&]([^=&#\s]{1,128})=([^&#\s]{1,4096})/g

function findSecretsInUrl(url: string): SecretRange[] {
  const found: SecretRange[] = []
  const add = (because: PlainSecret['because'], end: number, value: string): void => {
    const spot = findSecret(value, { name: because === 'name' ? 'secret' : '', start: 0 })
    if (spot) found.push({ because: spot.because, start: end - value.length, end })
  }
  const password = PASSWORD.exec(url)
  if (password?.[1] !== undefined) add('name', password[0].length - 1, password[1])
  for (const match of url.matchAll(PARAMETER)) {
    const [whole, name = '', value = ''] = match
    add(isSecretName(name) || /^(?:key|sig|signature|auth)$/i.test(name) ? 'name' : 'disorder', match.index + whole.length, value)
  }
  return found
}

/**
 * The value of a plain secret, for a person who wants to see it before it is moved.
 *
 * @example
 * for (const secret of plainSecrets(spec)) console.log(secret.where, plainSecretValue(spec, secret))
 */
export const plainSecretValue = ({ transport }: Pick<ServerSpec, 'transport'>, { where, start, end }: PlainSecret): string =>
  (textsOf(transport).find((each) => each.where === where)?.text ?? '').slice(start, end)

/**
 * Copies a server for display, with the secrets that `moveSecrets` would move replaced by their length. Values that might be run as
 * code stay visible, and so do all values from a project's file, which others may have written.
 *
 * @example
 * console.log(JSON.stringify(withoutPlainSecrets(spec)))
 */
export function withoutPlainSecrets(spec: ServerSpec): ServerSpec {
  const texts = new Map(textsOf(spec.transport).map(({ where, text }) => [where, text]))
  // From the end, so that a replacement does not shift the positions that follow.
  for (const { where, start, end, chars } of plainSecrets(spec)
    .filter(isMovable)
    .sort((a, b) => b.start - a.start)) {
    const text = texts.get(where) ?? ''
    texts.set(where, `${text.slice(0, start)}[${chars} characters hidden]${text.slice(end)}`)
  }
  return { ...spec, transport: mapTexts(spec.transport, (text, where) => texts.get(where) ?? text) }
}

const isMovable = (found: PlainSecret): boolean => found.isMovable

/**
 * Moves the movable secrets of a server to the vault, and returns a copy of the spec with placeholders instead. The file that the server
 * was read from is not changed: the values are still in it.
 *
 * @example
 * await serverFile(folder).add(await moveSecrets(spec, vault))
 */
export async function moveSecrets(spec: ServerSpec, vault: Vault, found: readonly PlainSecret[] = plainSecrets(spec)): Promise<ServerSpec> {
  const texts = new Map(textsOf(spec.transport).map(({ where, text }) => [where, text]))
  // From the end, so that a replacement does not shift the positions that follow.
  for (const { where, start, end } of found.filter(isMovable).sort((a, b) => b.start - a.start)) {
    const text = texts.get(where)
    if (text === undefined) continue
    const value = partsOf(text.slice(start, end))
      .map((part) => ('literal' in part ? part.literal : ''))
      .join('')
    const name = await vault.keep(`${spec.id}/${where.replace(/^(?:env|headers)\./, '').replace(/[^A-Za-z0-9_.-]/g, '')}`, value)
    texts.set(where, text.slice(0, start) + placeholderText({ kind: 'secret', name }) + text.slice(end))
  }
  return { ...spec, transport: mapTexts(spec.transport, (text, where) => texts.get(where) ?? text) }
}
