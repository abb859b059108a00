/** Shows the change of a value as lines with `-` and `+`. */

/**
 * All lines of both values as JSON. A line with `-` is only in the old value, a line with `+` only in the new one. JSON keeps each text
 * on one line, so that a text cannot forge a line of the difference.
 */
export function differenceText(before: unknown, after: unknown): string {
  const old = linesOf(before)
  const now = linesOf(after)
  const shortest = Math.min(old.length, now.length)
  let head = 0
  while (head < shortest && old[head] === now[head]) head++
  let tail = 0
  while (tail < shortest - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++
  return [
    ...now.slice(0, head).map((line) => `  ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+ ${line}`),
    ...now.slice(now.length - tail).map((line) => `  ${line}`),
  ].join('\n')
}

const linesOf = (value: unknown): string[] => (value === undefined ? [] : JSON.stringify(value, undefined, 2).split('\n'))
