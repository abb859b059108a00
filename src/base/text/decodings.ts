/** Decodes a text in the most common encodings: percent, escapes, entities, base64 and hex. */

/** Shorter encoded text is too short to be recognised: as a part of a result, or as an order. */
const MIN_BASE64 = /[A-Za-z0-9+/_-]{32,}/g
const MIN_HEX = /[0-9a-f]{48,}/gi
const DEPTH = 2

/** All decodings of a text. A decoding that looks like text is decoded again. */
export function* decodings(text: string, depth = DEPTH): Generator<string> {
  for (const reading of readings(text)) {
    yield reading
    if (depth > 1 && looksLikeText(reading)) yield* decodings(reading, depth - 1)
  }
}

function* readings(text: string): Generator<string> {
  if (text.includes('%')) {
    const decoded = text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'))
    if (decoded !== text) yield decoded
  }
  if (text.includes('\\'))
    yield text.replace(/\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|.)/gi, (_run, four?: string, two?: string) => fromHex(four ?? two))
  if (text.includes('&#'))
    yield text.replace(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (_run, hex?: string, decimal?: string) => fromHex(hex, decimal))
  const dense = text.replace(/\s+/g, '')
  for (const [run] of dense.matchAll(MIN_BASE64)) {
    // Preceding characters may look like base64 too, so all four alignments are tried.
    for (let skip = 0; skip < 4; skip++) yield Buffer.from(run.slice(skip), 'base64url').toString('utf8')
  }
  for (const [run] of text.replace(/[\s:,-]+|\\x|0x/gi, '').matchAll(MIN_HEX)) {
    for (let skip = 0; skip < 2; skip++) yield Buffer.from(run.slice(skip), 'hex').toString('utf8')
  }
}

function fromHex(hex: string | undefined, decimal?: string): string {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}

const SAMPLE = 400

/** Random decodings contain many characters that text does not have. */
function looksLikeText(text: string): boolean {
  const sample = text.slice(0, SAMPLE)
  const odd = sample.match(/[^\p{L}\p{N}\p{P}\p{S}\s\0]|\ufffd/gu)?.length ?? 0
  return odd * 10 <= sample.length
}
