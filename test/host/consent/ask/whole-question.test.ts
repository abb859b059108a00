/** Every text of a server, a file or a model that a question is about is in the question; what is folded is counted, and there on request. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Screen } from '../../../../src/cli/output/screen.ts'
import { showQuestion } from '../../../../src/cli/terminal/show-question.ts'
import { describeQuestion, foldedOf, questionText } from '../../../../src/host/consent/ask/describe.ts'
import type { Question } from '../../../../src/host/model/question.ts'
import { memoryIo } from '../../../cli/support/memory-io.ts'
import { counted, proofRuns } from '../../../support/proof.ts'
import { CALL, question } from './questions.ts'
import { type About, args, subjects } from './random-subjects.ts'
import { isShownIn, textsIn } from './shown-text.ts'

/** Names of members that we know and write in words of our own. */
const OURS = new Set([
  'type',
  'text',
  'image',
  'audio',
  'resource',
  'data',
  'mimeType',
  'uri',
  'blob',
  'content',
  'toolUseId',
  'tool_result',
])
const OURS_TOO = new Set(['messages', 'systemPrompt', 'tools', 'role', 'user', 'title', 'description', 'string'])

const foreignIn = ({ texts }: About): string[] => [...new Set(textsIn(texts))].filter((each) => !OURS.has(each) && !OURS_TOO.has(each))

const linesOf = (asked: Question, isWhole: boolean): string[] =>
  describeQuestion(asked, { isWhole }).flatMap((line) => [line.label, line.text])

const missingIn = (shown: readonly string[], texts: readonly string[]): string[] =>
  texts.filter((each) => !shown.some((line) => isShownIn(line, each)))

/** What the terminal draws, with its bars and all white space taken out. */
function drawn(asked: Question, columns: number, isWhole: boolean): string {
  const io = memoryIo({ isTTY: true, columns, env: { NO_COLOR: '1' } })
  showQuestion(new Screen(io), asked, { isWhole })
  return io
    .err()
    .split('\n')
    .map((row) => row.replace(/^ {2}│ /, ''))
    .join('')
    .replaceAll(/\s/g, '')
}

describe('random foreign text is shown in full in a question', () => {
  test.each(Object.entries(subjects))(
    'random foreign text is shown in full in a question: %s',
    (_kind, arbitrary) => {
      fc.assert(
        fc.property(arbitrary, fc.integer({ min: 20, max: 120 }), (each, columns) => {
          const asked = question({ subject: each.subject })
          const texts = foreignIn(each)
          expect(missingIn(linesOf(asked, true), texts), 'in the whole').toEqual([])
          const short = linesOf(asked, false)
          const folded = foldedOf(asked)
          const missing = missingIn(short, texts)
          // Data is all that is folded of others, and the short form says how much it is.
          expect(missing.filter((one) => !/^[A-Za-z0-9+/]+={0,2}$/.test(one))).toEqual([])
          expect(missing.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(folded)
          if (folded > 0)
            expect(questionText(describeQuestion(asked))).toContain(`not shown: ${folded} character${folded === 1 ? '' : 's'}`)
          expect(short.join('\n').includes('[redacted]')).toBe(texts.some((one) => one.includes('[redacted]')))
          const screen = drawn(asked, columns, true)
          expect(
            texts.filter((one) => !isShownIn(screen, one, true)),
            'on the screen',
          ).toEqual([])
          counted({ 'texts of others, each found whole in its question': texts.length })
        }),
        { numRuns: proofRuns(40) },
      )
    },
    600_000,
  )
})

test("the person's own arguments are shown on request, folded parts are counted, without line breaks", () => {
  fc.assert(
    fc.property(args, args, (given, lastArgs) => {
      const asked = question({ subject: { ...CALL, args: given, lastArgs, isOwn: true, wasOwn: true } })
      const texts = [...new Set(textsIn([given, lastArgs]))]
      expect(missingIn(linesOf(asked, true), texts)).toEqual([])
      const missing = missingIn(linesOf(asked, false), texts)
      expect(missing.filter((each) => /[\r\n]/.test(each))).toEqual([])
      const folded = foldedOf(asked)
      if (missing.length > 0)
        expect(folded).toBeGreaterThanOrEqual(Math.max(...missing.map((each) => (/^[a-z]+:\/\//.test(each) ? 1 : each.length))))
      if (folded > 0) expect(questionText(describeQuestion(asked))).toContain(`not shown: ${folded} character${folded === 1 ? '' : 's'}`)
      // A command is never folded.
      for (const [key, value] of Object.entries(given))
        if (key === 'command') expect(missingIn(linesOf(asked, false), textsIn(value))).toEqual([])
    }),
    { numRuns: proofRuns(100) },
  )
}, 600_000)
