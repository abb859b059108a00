/** Puts the arguments that a grant covers into words. */

import type { ArgumentRules, ArgumentTest } from '../../model/rule.ts'
import { nameText } from './question-line.ts'

/**
 * What a pattern covers, one line per condition.
 *
 * @example
 * patternText({ '/message': { eq: 'hi' } }) // 'message = "hi"'
 */
export const patternText = (pattern: ArgumentRules): string =>
  Object.entries(pattern)
    .flatMap(([pointer, test]) => testTexts(test).map((text) => `${pointerText(pointer)} ${text}`))
    .join('\n')

/** `/message` is the argument `message`, `/files/*` is each of `files`. */
export function pointerText(pointer: string): string {
  const parts = pointer.split('/').slice(1)
  const isEach = parts.at(-1) === '*'
  const name = (isEach ? parts.slice(0, -1) : parts).map((part) => nameText(part.replaceAll('~1', '/').replaceAll('~0', '~'))).join('.')
  if (name === '') return isEach ? 'each argument' : 'all arguments together'
  return isEach ? `each of ${name}` : name
}

function testTexts(test: ArgumentTest): string[] {
  const { in: values, glob, re2, within, hostIn, cidr, len, min, max, schema } = test
  return [
    // By presence, not by value: `eq: null` is a valid test.
    ...(Object.hasOwn(test, 'eq') ? [`= ${JSON.stringify(test.eq)}`] : []),
    ...(values ? [`is one of ${values.map((value) => JSON.stringify(value)).join(', ')}`] : []),
    ...(glob === undefined ? [] : [`matches ${JSON.stringify(glob)}`]),
    ...(re2 === undefined ? [] : [`matches the expression ${JSON.stringify(re2)}`]),
    ...(within === undefined
      ? []
      : [
          `is in the folder ${[within]
            .flat()
            .map((folder) => JSON.stringify(folder))
            .join(' or ')}`,
        ]),
    ...(hostIn ? [`is an address on ${hostIn.join(' or ')}`] : []),
    ...(cidr ? [`is an address in ${cidr.join(' or ')}`] : []),
    ...(len ? [`has ${rangeText(len.min, len.max)} characters or elements`] : []),
    ...(min === undefined && max === undefined ? [] : [`is ${rangeText(min, max)}`]),
    ...(schema ? [`fits the schema ${JSON.stringify(schema)}`] : []),
  ]
}

function rangeText(min: number | undefined, max: number | undefined): string {
  if (max === undefined) return `at least ${min}`
  return min === undefined ? `at most ${max}` : `${min} to ${max}`
}
