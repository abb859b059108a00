/** Shortens text of a peer for a row that is kept for long. */

const MAX_CHARS = 300

/** V8 keeps a whole string alive for the sake of any `slice` of it, so a longer text is copied. */
export const shortCopy = (text: string): string =>
  text.length <= MAX_CHARS ? text : Buffer.from(`${text.slice(0, MAX_CHARS)}…`).toString()
