/** How much memory a JSON value takes, about. Small values take much more than their text. */

/** An object, an array, a number or the head of a string, with its place in the value that contains it. */
const VALUE_BYTES = 72

/** A name that no other object has. */
const NAME_BYTES = 32

const WIDE = /[^\0-\xff]/

export function memorySize(value: unknown): number {
  let bytes = 0
  // Not recursive, because values can be nested deeply.
  const rest = [value]
  while (rest.length > 0) {
    const each = rest.pop()
    bytes += VALUE_BYTES
    // A text is kept with one byte for each character, or with two if one of them needs that.
    if (typeof each === 'string') bytes += each.length * (WIDE.test(each) ? 2 : 1)
    else if (Array.isArray(each)) for (const item of each) rest.push(item)
    else if (typeof each === 'object' && each !== null)
      for (const [name, member] of Object.entries(each)) {
        bytes += NAME_BYTES + 2 * name.length
        rest.push(member)
      }
  }
  return bytes
}
