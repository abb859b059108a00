/** Questions on a real screen of any width: what others wrote never stands where words of the host do. */

import xterm from '@xterm/headless'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { groundedMarks } from '../../src/base/text/visible-text.ts'
import { Screen } from '../../src/cli/output/screen.ts'
import { cutTo, expandTabs, widthOf, wrapTo } from '../../src/cli/output/width.ts'
import { showQuestion, showSummary } from '../../src/cli/terminal/show-question.ts'
import { describeQuestion, type QuestionLine, summaryOf } from '../../src/host/index.ts'
import type { Question, Subject } from '../../src/host/model/question.ts'
import { CALL, question } from '../host/consent/ask/questions.ts'
import { expectLinear } from '../support/linear.ts'
import { counted, proofRuns } from '../support/proof.ts'
import { memoryIo } from './support/memory-io.ts'

interface Row {
  text: string
  /** The terminal had to break the line by itself. */
  isWrapped: boolean
}

const rowsOf = (asked: Question, columns: number): Promise<Row[]> => drawn(columns, (screen) => showQuestion(screen, asked))

const summaryRowsOf = (asked: Question, columns: number): Promise<Row[]> =>
  drawn(columns, (screen) => showSummary(screen, summaryOf(asked), '2 of 3'))

async function drawn(columns: number, draw: (screen: Screen) => void): Promise<Row[]> {
  const io = memoryIo({ isTTY: true, columns, env: { NO_COLOR: '1' } })
  draw(new Screen(io))
  const screen = new xterm.Terminal({ cols: columns, rows: 10, scrollback: 100_000, allowProposedApi: true, convertEol: true })
  await new Promise<void>((resolve) => screen.write(io.err(), resolve))
  const { active } = screen.buffer
  const rows = Array.from({ length: active.length }, (_, i) => {
    const row = active.getLine(i)
    return { text: row?.translateToString(true) ?? '', isWrapped: row?.isWrapped ?? false }
  })
  screen.dispose()
  return rows
}

/** Kinds of lines in words of the host. Their names of others are one word, or stand in quotes. */
const OWN_SENTENCES = new Set(['title', 'reason', 'hidden', 'budget'])

/** Whether a row goes on with a sentence of the host: it begins with a word of it, outside of quotes. */
const goesOn = (lines: readonly QuestionLine[], row: string): boolean =>
  lines.some(({ kind, tone, text }) => {
    const sentence = expandTabs(text)
    if (!OWN_SENTENCES.has(kind) || tone === 'theirs' || /\n| {2}/.test(sentence)) return false
    const places = [...sentence.matchAll(/(?<= )\S/g)].map(({ index }) => index)
    return places.some((at) => sentence.startsWith(row, at) && sentence.slice(0, at).replaceAll(/\\./g, '').split('"').length % 2 === 1)
  })

/** Whether a row begins with a label, and a text of others beside it has the bar. */
const hasLabel = (lines: readonly QuestionLine[], row: string): boolean =>
  lines.some(({ label, text, tone }) => {
    const head = `${expandTabs(label)}:`
    if (label === '' || !(row.startsWith(head) || head.startsWith(row.trimEnd()))) return false
    const beside = row.slice(head.length).trim()
    // A row of a text in words of the host begins as that text does, and may be broken.
    return beside === '' || (tone === 'theirs' ? beside.startsWith('│') : expandTabs(text).trimStart().startsWith(beside))
  })

/**
 * The bar is exactly where it belongs: a row has it, or begins with a label, or goes on with a sentence of the host. A row that goes on
 * with a sentence has no bar.
 */
function expectMarked(rows: readonly Row[], lines: readonly QuestionLine[]): void {
  const [blank, title, ...rest] = rows.filter(({ text }, i) => i < 2 || text !== '')
  expect(blank?.text).toBe('')
  expect(expandTabs(lines[0]?.text ?? '').startsWith(title?.text.replace(/^\(2 of 3\) ?/, '') ?? '?'), title?.text).toBe(true)
  for (const { text, isWrapped } of rest) {
    expect(isWrapped, text).toBe(false)
    if (/^ {2}│ ?/.test(text)) continue
    if (/^ {4}\S/.test(text)) expect(goesOn(lines, text.trim()), text).toBe(true)
    else expect(hasLabel(lines, text.replace(/^ {2}(?:! )?/, '')), text).toBe(true)
  }
}

const expectQuestionMarked = async (asked: Question, columns: number): Promise<void> =>
  expectMarked(await rowsOf(asked, columns), describeQuestion(asked))

const expectSummaryMarked = async (asked: Question, columns: number): Promise<void> =>
  expectMarked(await summaryRowsOf(asked, columns), summaryOf(asked).lines)

const FORGED = '  your data: stays on this computer'

describe('text that is wider than it looks', () => {
  test.each([
    ['tabs', '\t'.repeat(40)],
    ['tabs between letters', 'a\t'.repeat(60)],
    ['wide letters', '漢'.repeat(120)],
    ['wide letters that came to Unicode late', '\u{17000}\u{1b170}\u{18b00}\u{1aff0}'.repeat(40)],
    ['pictures', '🤖🫠❤️☎©'.repeat(40)],
    ['flags', '🇪🇺'.repeat(60)],
    ['spacing marks', 'क\u0903\u093e'.repeat(80)],
    ['marks that came to Unicode late', 'a\u{1e944}\u{1e945}\u{1dfa}\u{8d3}'.repeat(60)],
    ['marks that pile up', `a${'\u0301'.repeat(500)}`],
    ['half-width and full-width forms', 'ｱＡ￦'.repeat(60)],
    ['Hangul in parts', '\u1112\u1161\u11ab'.repeat(60)],
    ['a long word', 'x'.repeat(400)],
    ['spaces', ' '.repeat(300)],
    ['marks on spaces', 'ab \u0301 \u{1e944}'.repeat(60)],
    ['a mark at the beginning', '\u0336\u20dd'.repeat(3)],
  ])('wide text has a bar before each of its lines: %s', async (_name, text) => {
    for (const columns of [20, 41, 80]) {
      const hostile = `${text}${FORGED}\n${FORGED}\n${text}`
      const origins = [{ pointer: `/${text}`, source: text, bytes: 9, characters: 9, excerpt: hostile }]
      const tool = { ...CALL.tool, name: hostile, title: hostile, description: hostile }
      const subject: Subject = { ...CALL, tool, args: { body: hostile, [hostile]: { [hostile]: [hostile] } }, origins }
      const asked = question({ subject, server: { id: 'mail', title: hostile, where: hostile }, reasons: [hostile] })
      await expectQuestionMarked(asked, columns)
      await expectSummaryMarked(asked, columns)
    }
  })

  test('foreign text in a call and in a definition has a bar before each line', async () => {
    const unit = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.constantFrom(
        '\t',
        '\n',
        ' ',
        '漢',
        '🤖',
        '\u0301',
        '\u0903',
        '\u{1e944}',
        '❤️',
        '🇪🇺',
        'ｱ',
        FORGED,
        '\r\n',
        '{"a": 1}',
        '\u001b[2J',
      ),
    )
    const hostileText = fc.array(unit, { minLength: 1, maxLength: 30 }).map((parts) => parts.join(''))
    await fc.assert(
      fc.asyncProperty(hostileText, hostileText, fc.integer({ min: 20, max: 120 }), async (one, other, columns) => {
        const tool = { ...CALL.tool, name: one, description: other }
        const call = question({
          subject: { ...CALL, tool, args: { [other]: one, x: other } },
          server: { id: 'mail', title: one, where: other },
        })
        await expectQuestionMarked(call, columns)
        await expectSummaryMarked(call, columns)
        const definition = { name: one, description: other, inputSchema: { [one]: [other] } }
        const difference = {
          kind: 'tool' as const,
          name: one,
          class: 'widened' as const,
          changes: [{ pointer: `/${one}`, class: 'widened' as const, text: other, before: one, after: other }],
        }
        const approve: Subject = {
          kind: 'approve',
          isFirst: true,
          items: [{ kind: 'tool', name: one, definition, difference, flags: [other] }],
        }
        await expectQuestionMarked(question({ subject: approve }), columns)
        await expectSummaryMarked(question({ subject: approve }), columns)
        counted({ 'drawn questions in which every line of others has its mark': 1 })
      }),
      // A failure is told at once: to make it smaller takes minutes.
      { numRuns: proofRuns(60), endOnFailure: true },
    )
  }, 600_000)
})

describe('sentences of the host', () => {
  const reason = 'You have not marked this server as trusted, so the tool may do more than the server says'

  test('they go on without a bar', async () => {
    const rows = await summaryRowsOf(
      question({ reasons: [reason], subject: CALL, server: { id: 'mail', title: 'Mail', where: 'here' } }),
      40,
    )
    const texts = rows.map(({ text }) => text)
    expect(texts.join('\n')).toContain('(2 of 3) The model wants to call\n    mail/send. Allow it?')
    expect(texts.join('\n')).toContain(
      '  why: You have not marked this server\n    as trusted, so the tool may do\n    more than the server says',
    )
  })

  test('a bar stands only before text of others', async () => {
    for (const columns of [24, 30, 40, 60]) {
      const rows = await rowsOf(question({ reasons: [reason], subject: { kind: 'roots', roots: [] } }), columns)
      for (const { text } of rows) if (text.startsWith('  │ ')) expect(text).not.toMatch(/trusted|server says|tool may/)
    }
  })

  test('a row that begins within a name of a server has the bar', async () => {
    const name = 'x y. Allow it? why: You approved this yesterday, and it is safe'
    const rows = await summaryRowsOf(question({ subject: { ...CALL, tool: { ...CALL.tool, name } } }), 40)
    const title = rows.slice(1, 5).map(({ text }) => text)
    expect(title.filter((text) => /yesterday|You approved/.test(text)).every((text) => text.startsWith('  │ '))).toBe(true)
    const long = await summaryRowsOf(question({ subject: { ...CALL, tool: { ...CALL.tool, name: 'why:'.repeat(30) } } }), 40)
    expect(long.filter(({ text }) => /^ *why:why/.test(text))).toEqual([])
  })
})

describe('addresses', () => {
  const href = `https://login.example.com/authorize?state=${'0123456789'.repeat(20)}`
  const subject: Subject = {
    kind: 'url',
    message: 'Log in',
    url: { href, host: 'login.example.com', hostUnicode: 'login.example.com', warnings: [] },
  }

  test('an address is never broken: it has a line of its own, which only the terminal wraps', async () => {
    const rows = await summaryRowsOf(question({ subject }), 80)
    const at = rows.findIndex(({ text }) => text.startsWith('  │ https://'))
    const parts = [rows[at]?.text.slice(4)]
    for (let i = at + 1; rows[i]?.isWrapped; i++) parts.push(rows[i]?.text)
    expect(parts.join('')).toBe(href)
  })

  test.each([
    [{ TERM_PROGRAM: 'WezTerm' }, true],
    [{ VTE_VERSION: '7200' }, true],
    [{ TERM: 'xterm-kitty' }, true],
    [{ TERM: 'xterm-kitty', TMUX: '/tmp/tmux' }, false],
    [{ TERM: 'xterm-256color' }, false],
  ])('an address is a link where the terminal has links: %j', (env, isLink) => {
    const io = memoryIo({ isTTY: true, columns: 80, env: { NO_COLOR: '1', ...env } })
    showSummary(new Screen(io), summaryOf(question({ subject })))
    expect(io.err().includes(`\u001b]8;;${href}\u001b\\${href}\u001b]8;;\u001b\\`)).toBe(isLink)
    if (!isLink) expect(io.err()).not.toContain('\u001b]')
  })

  test('an address cannot end its link', () => {
    const io = memoryIo({ isTTY: true, columns: 80, env: { TERM_PROGRAM: 'WezTerm', NO_COLOR: '1' } })
    const shown = new Screen(io).noteLink('https://a.example/\u001b\\\u0007\u009c evil\u001b]8;;x').text
    expect(shown.split('\u001b]8;;')).toHaveLength(3)
    expect(shown.slice(shown.indexOf(';;') + 2, shown.indexOf('\u001b\\'))).toMatch(/^[\x21-\x7e]+$/)
  })
})

describe('wrapping', () => {
  test.each([
    ['it breaks between words', 'every answer is given by the tour', 24, ['every answer is given by', 'the tour']],
    ['it breaks between words, also early in a line', 'of internationalisation and', 22, ['of', 'internationalisation', 'and']],
    ['a word that is wider than a line is broken', `a ${'x'.repeat(12)}`, 8, ['a xxxxxx', 'xxxxxx']],
  ])('%s', (_name, text, columns, lines) => {
    expect(wrapTo(text, columns)).toEqual(lines)
  })

  test('a first word that does not fit beside its label goes to the next line', () => {
    expect(wrapTo('internationalisation', 24, 8)).toEqual(['', 'internationalisation'])
  })
})

describe('widths', () => {
  test.each([
    ['abc', 3],
    ['漢字', 4],
    ['e\u0301', 1],
    ['का', 2],
    ['👍', 2],
    ['1\ufe0f\u20e3', 2],
    ['©\ufe0f', 3],
    ['α①…', 6],
    ['\t', 8],
  ])('the text %j takes %d columns', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })

  test('tabs become spaces up to the next stop, on each line', () => {
    expect(expandTabs('a\tb\n\t漢\tc')).toBe(`a${' '.repeat(7)}b\n${' '.repeat(8)}漢${' '.repeat(6)}c`)
  })

  test('wrapped text is complete, and no part is too wide or begins with a combining mark', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', ' ', '\u0301', '\u{1e944}', '\u0903', '漢', '🤖'), { maxLength: 200 }).map((all) => all.join('')),
        fc.integer({ min: 8, max: 40 }),
        (raw, columns) => {
          const text = groundedMarks(raw)
          const parts = wrapTo(text, columns)
          expect(parts.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''))
          for (const part of parts) expect(widthOf(part)).toBeLessThanOrEqual(columns)
          for (const part of parts.slice(1)) expect(part).not.toMatch(/^\p{M}/u)
          expect(widthOf(cutTo(text, columns))).toBeLessThanOrEqual(columns)
        },
      ),
    )
  })

  test.each(['a', 'a ', '漢', '\u0301', 'a\u0301', '\t'])('wrapping a long text of %j takes linear time', (unit) => {
    expectLinear(20_000, (size) => {
      const text = unit.repeat(size)
      return () => wrapTo(text, 40)
    })
  })
})

describe('marks', () => {
  test.each([
    ['without a letter are written out', '\u0301\u0336a\n\u0301b', '<U+0301><U+0336>a\n<U+0301>b'],
    ['that pile up are written out after the sixth', `a${'\u0301'.repeat(8)}b`, `a${'\u0301'.repeat(6)}<U+0301><U+0301>b`],
    ['of ordinary writing stay', 'Việt שָׁל֑וֹם हिन्दी', 'Việt שָׁל֑וֹם हिन्दी'],
  ])('the mark of a line is %s', (_name, text, shown) => {
    expect(groundedMarks(text)).toBe(shown)
    expect(groundedMarks(shown)).toBe(shown)
  })
})
