/** Percent-encodes all but unreserved characters. With `keepsReserved`, reserved characters and existing escapes stay too. */
export function encode(text: string, keepsReserved: boolean): string {
  const keep = keepsReserved ? /%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]+/g : /[A-Za-z0-9\-._~]+/g
  let encoded = ''
  let at = 0
  for (const match of text.matchAll(keep)) {
    encoded += encodeAll(text.slice(at, match.index)) + match[0]
    at = match.index + match[0].length
  }
  return encoded + encodeAll(text.slice(at))
}

function encodeAll(text: string): string {
  if (text === '') return ''
  let encoded = ''
  for (const byte of new TextEncoder().encode(text)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return encoded
}
