/** How much memory a JSON value takes, about. Small values take much more than their text. */

/** An object, an array, a number or the head of a string, with its place in the value that contains it. */
const VALUE_BYTES = 72

/** A name that no other object has. */
const NAME_BYTES = 32

const WIDE = /[^\0-\xff]/

/** A text is kept with one byte for each character, or with two if one of them needs that. */
const textSize = (text: string): number => (WIDE.test(text) ? 2 * text.length : text.length)

export function memorySize(value: unknown): number {
  let bytes = 0
  // Not recursive, because values can be nested deeply.
  const rest = [value]
  while (rest.length > 0) {
    const each = rest.pop()
    bytes += VALUE_BYTES
    if (typeof each === 'string') bytes += textSize(each)
    else if (Array.isArray(each)) for (const item of each) rest.push(item)
    else if (typeof each === 'object' && each !== null)
      for (const [name, member] of Object.entries(each)) {
        bytes += NAME_BYTES + textSize(name)
        rest.push(member)
      }
  }
  return bytes
}
