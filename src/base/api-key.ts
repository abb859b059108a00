/** The rules for an API key. A shorter key can be guessed, and a header cannot contain other characters. */

const MIN_LENGTH = 16
export const MAX_API_KEY_LENGTH = 1024

/** Spaces inside are allowed, because a password may have some. */
export const API_KEY = /^[!-~](?:[ -~]*[!-~])?$/

export const API_KEY_RULES = `with ${MIN_LENGTH} to ${MAX_API_KEY_LENGTH} visible ASCII characters in each key`

/** What is wrong with a key, or with `sha256:` and the digest of one. The text never contains a part of the key. */
export function faultInApiKey(key: string): string | undefined {
  if (key.startsWith('sha256:')) return /^sha256:[0-9a-fA-F]{64}$/.test(key) ? undefined : 'must have 64 hexadecimal digits after "sha256:"'
  if (key.length < MIN_LENGTH || key.length > MAX_API_KEY_LENGTH)
    return `must have ${MIN_LENGTH} to ${MAX_API_KEY_LENGTH} characters; got ${key.length}`
  return API_KEY.test(key) ? undefined : 'has characters that a header cannot have, or spaces around it'
}
