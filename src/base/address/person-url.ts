/** A URL that a person is asked to open: whether it may be opened, and the warnings to show with it. */

import { isLoopback } from './loopback.ts'

export interface PersonUrl {
  /** The whole address, as it will be opened. */
  href: string
  /** The host name. Show it apart from the rest, because it says whose page it is. */
  host: string
  /** The host name with its non-ASCII letters decoded. */
  hostUnicode: string
  warnings: UrlWarning[]
}

export type UrlWarning =
  | 'punycode' // non-ASCII letters, which can look like others
  | 'mixed-scripts' // letters of several alphabets in one name
  | 'ip-address' // an address instead of a name
  | 'user-info' // text before an @, which can look like a host
  | 'unusual-port'
  | 'not-encrypted'

/** The longest name that DNS allows. */
const MAX_HOST_LENGTH = 253

/** Whether a person may be sent to this URL: https, or http to this machine. */
export const isPersonUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return hostname.length <= MAX_HOST_LENGTH && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))
}

/** Undefined for any URL that `isPersonUrl` rejects. */
export function personUrl(text: string): PersonUrl | undefined {
  if (!isPersonUrl(text)) return undefined
  const url = new URL(text)
  const isLocal = isLoopback(url.hostname)
  const hostUnicode = url.hostname.split('.').map(labelToUnicode).join('.')
  const warnings: UrlWarning[] = []
  if (hostUnicode !== url.hostname) warnings.push('punycode')
  if (hostUnicode.split('.').some(hasMixedScripts)) warnings.push('mixed-scripts')
  if (/^[\d.]+$/.test(url.hostname) || url.hostname.startsWith('[')) warnings.push('ip-address')
  if (url.username !== '' || url.password !== '') warnings.push('user-info')
  if (url.port !== '' && !isLocal) warnings.push('unusual-port')
  if (url.protocol === 'http:') warnings.push('not-encrypted')
  return { href: url.href, host: url.hostname, hostUnicode, warnings }
}

const SCRIPTS = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u]

const hasMixedScripts = (label: string): boolean => SCRIPTS.filter((script) => script.test(label)).length > 1

const labelToUnicode = (label: string): string => (label.startsWith('xn--') ? (decodePunycode(label.slice(4)) ?? label) : label)

/** RFC 3492. Undefined for invalid text. */
function decodePunycode(text: string): string | undefined {
  const dash = text.lastIndexOf('-')
  const output = dash > 0 ? [...text.slice(0, dash)].map((character) => character.codePointAt(0) as number) : []
  let code = 128
  let bias = 72
  let index = 0
  for (let at = dash > 0 ? dash + 1 : 0; at < text.length; ) {
    const start = index
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = digitOf(text.charCodeAt(at++))
      if (digit === undefined) return undefined
      index += digit * weight
      const threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias
      if (digit < threshold) break
      weight *= 36 - threshold
      if (weight > 0x7fffffff) return undefined
    }
    const length = output.length + 1
    bias = adapt(index - start, length, start === 0)
    code += Math.floor(index / length)
    index %= length
    if (code > 0x10ffff) return undefined
    output.splice(index++, 0, code)
  }
  return String.fromCodePoint(...output)
}

function digitOf(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26
  if (code >= 0x61 && code <= 0x7a) return code - 0x61
  if (code >= 0x41 && code <= 0x5a) return code - 0x41
  return undefined
}

function adapt(delta: number, length: number, isFirst: boolean): number {
  let value = isFirst ? Math.floor(delta / 700) : delta >> 1
  value += Math.floor(value / length)
  let k = 0
  for (; value > 455; k += 36) value = Math.floor(value / 35)
  return k + Math.floor((36 * value) / (value + 38))
}
