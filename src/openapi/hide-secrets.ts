/** Keeps the credentials of the server out of what the model sees: many APIs repeat the URL of a request in links and errors. */

import { toBase64 } from '../base/bytes.ts'

/** A shorter secret would be found in texts that do not contain it. */
const MIN_LENGTH = 8

/** @returns a function that hides the secrets of a call, also as a URL or a header contains them */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const written = secrets
    .map((secret) => secret.trim())
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      // Basic authentication
      toBase64(new TextEncoder().encode(secret)),
      secret.slice(secret.indexOf(':') + 1),
    ])
    .filter((each) => each.length >= MIN_LENGTH)
    // One may contain another.
    .sort((a, b) => b.length - a.length)
  return (text) => written.reduce((shown, each) => shown.replaceAll(each, '[redacted]'), text)
}
