/** Values that stand in the open in a configuration and look like secrets: by the name beside them, by a known form, by their disorder. */

import { isSecretName, redactText } from '../../protocol/redact.ts'
import type { ServerSpec } from '../servers/spec.ts'
import type { Vault } from '../vault/vault.ts'
import { mapTexts, partsOf, placeholderText, textsOf } from './placeholder.ts'

/** Where it is, and never what it is. */
export interface PlainSecret {
  /** `env.TOKEN`, `args[2]`, `headers.Authorization`, `url`. */
  where: string
  because: 'name' | 'form' | 'disorder'
  start: number
  end: number
}

/** What in the configuration of a server looks like a secret that somebody wrote down. */
export function plainSecrets({ way }: Pick<ServerSpec, 'way'>): PlainSecret[] {
  const texts = textsOf(way)
  return texts.flatMap(({ where, text }, i) => {
    if (where === 'command' || where === 'cwd') return []
    if (where === 'url') return inUrl(text)
    // `--token` and its value are two arguments.
    const before = where.startsWith('args[') ? texts[i - 1]?.text : undefined
    const spot = spotIn(text, nameBeside(where, text, before))
    return spot ? [{ where, ...spot }] : []
  })
}

interface Beside {
  name: string
  /** Where the value begins, in `--token=value`. */
  start: number
}

function nameBeside(where: string, text: string, before: string | undefined): Beside {
  const named = /^(?:env|headers)\.(.+)$/s.exec(where)?.[1]
  if (named !== undefined) return { name: named, start: 0 }
  const assigned = /^-{0,2}([\w.-]{1,64})[=:](?!\/\/)/.exec(text)
  if (assigned) return { name: assigned[1] ?? '', start: assigned[0].length }
  const option = before === undefined || text.startsWith('-') ? undefined : /^--?([\w.-]{1,64})$/.exec(before)?.[1]
  return { name: option ?? '', start: 0 }
}

type Spot = Omit<PlainSecret, 'where'>

function spotIn(text: string, { name, start }: Beside): Spot | undefined {
  const value = text.slice(start)
  const parts = partsOf(value)
  const literals = parts.flatMap((part) => ('literal' in part ? [part.literal] : []))
  const isPlain = literals.length === parts.length
  // What stands around a placeholder is seldom a secret, and cannot be moved with it.
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

/** Not a number, a switch, a path or an address, which stand beside such names as `TOKEN_LIMIT` and `TOKEN_FILE`. */
const mayBeSecret = (value: string): boolean =>
  value.length >= MIN_CHARS &&
  !/^(?:\d{1,6}|true|false|yes|no|none|null)$/i.test(value) &&
  !/^(?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/]|https?:\/\/)/.test(value)

/** In a path each name is for itself. */
const isDisordered = (value: string): boolean => (/^(?:~|\.{1,2})?\//.test(value) ? value.split('/') : [value]).some(isRandom)

/** A word of a random mix. Names of packages and identifiers have one case, or no digits. */
function isRandom(word: string): boolean {
  if (word.length < 20 || word.length > 4096 || !/^[A-Za-z0-9+/=_-]+$/.test(word)) return false
  if (/^[0-9a-f]{32,}$/i.test(word)) return entropyOf(word) > 3
  return /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word) && entropyOf(word) > 3.8
}

/** In bits a character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

const PASSWORD = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@?#]{0,256}:([^\s/@?#]{1,1024})@/i
const PARAMETER = /[?&]([^=&#\s]{1,128})=([^&#\s]{1,4096})/g

function inUrl(url: string): PlainSecret[] {
  const found: PlainSecret[] = []
  const add = (because: PlainSecret['because'], end: number, value: string): void => {
    const spot = spotIn(value, { name: because === 'name' ? 'secret' : '', start: 0 })
    if (spot) found.push({ where: 'url', because: spot.because, start: end - value.length, end })
  }
  const password = PASSWORD.exec(url)
  if (password?.[1] !== undefined) add('name', password[0].length - 1, password[1])
  for (const match of url.matchAll(PARAMETER)) {
    const [whole, name = '', value = ''] = match
    add(isSecretName(name) || /^(?:key|sig|signature|auth)$/i.test(name) ? 'name' : 'disorder', match.index + whole.length, value)
  }
  return found
}

/** The same server with what looks like a secret struck out, to be shown. */
export function withoutPlainSecrets(spec: ServerSpec): ServerSpec {
  const texts = new Map(textsOf(spec.way).map(({ where, text }) => [where, text]))
  // From the end, so that what is replaced does not move what is not yet.
  for (const { where, start, end } of plainSecrets(spec).sort((a, b) => b.start - a.start)) {
    const text = texts.get(where) ?? ''
    texts.set(where, `${text.slice(0, start)}[redacted]${text.slice(end)}`)
  }
  return { ...spec, way: mapTexts(spec.way, (text, where) => texts.get(where) ?? text) }
}

/**
 * Puts the values into the vault, and placeholders in their place, in the copy that is returned. The file that the server
 * came from is not touched; the values are in it still, and whoever owns it may want to remove them.
 */
export async function moveSecrets(spec: ServerSpec, vault: Vault, found: readonly PlainSecret[] = plainSecrets(spec)): Promise<ServerSpec> {
  const texts = new Map(textsOf(spec.way).map(({ where, text }) => [where, text]))
  // From the end, so that what is replaced does not move what is not yet.
  for (const { where, start, end } of [...found].sort((a, b) => b.start - a.start)) {
    const text = texts.get(where)
    if (text === undefined) continue
    const value = partsOf(text.slice(start, end))
      .map((part) => ('literal' in part ? part.literal : ''))
      .join('')
    const name = await vault.keep(`${spec.id}/${where.replace(/^(?:env|headers)\./, '').replace(/[^A-Za-z0-9_.-]/g, '')}`, value)
    texts.set(where, text.slice(0, start) + placeholderText({ kind: 'secret', name }) + text.slice(end))
  }
  return { ...spec, way: mapTexts(spec.way, (text, where) => texts.get(where) ?? text) }
}
