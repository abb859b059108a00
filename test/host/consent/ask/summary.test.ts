/** The short form of a question: what it shows, and that it says what it leaves out. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { personUrl } from '../../../../src/base/address/person-url.ts'
import { commandText } from '../../../../src/base/text/command-text.ts'
import { summaryOf } from '../../../../src/host/consent/ask/summary.ts'
import { answerChoices, describeQuestion, type Question, questionText, type Subject } from '../../../../src/host/index.ts'
import { counted, proofRuns } from '../../../support/proof.ts'
import { CALL, question } from './questions.ts'
import { subjects } from './random-subjects.ts'
import { isShownIn, textsIn } from './shown-text.ts'

const textOf = (subject: Subject, more: Partial<Question> = {}): string => questionText(summaryOf(question({ ...more, subject })).lines)

const launch: Extract<Subject, { kind: 'launch' }> = {
  kind: 'launch',
  command: 'npx',
  args: ['-y', '@modelcontextprotocol/server-everything'],
  cwd: '/work',
  envNames: [],
  env: {},
  fills: [],
  changes: [],
}

describe('titles', () => {
  const chains: [readonly string[], string][] = [
    [['you', 'server mail'], 'Call mail/send?'],
    [['you', 'model small', 'server mail'], 'The model wants to call mail/send. Allow it?'],
    [['you', 'model small', 'server news', 'server mail'], 'news wants to call mail/send. Allow it?'],
  ]
  test.each(chains)('the title says who wants a call: %j', (chain, title) => {
    expect(textOf(CALL, { chain }).split('\n')[0]).toBe(title)
  })

  test('the title of a start has the version, if it is known', () => {
    expect(textOf({ ...launch, version: '2026.8.31' })).toMatch(/^Start mail, version 2026\.8\.31\?\n/)
    expect(textOf(launch)).toMatch(/^Start mail\?\n/)
    expect(textOf({ ...launch, version: '1? Yes.' })).toMatch(/^Start mail, version "1\? Yes\."\?\n/)
  })

  test('the title of an offering counts what it has', () => {
    const item = (kind: 'tool' | 'prompt' | 'instructions', name: string) => ({
      kind,
      name,
      definition: {},
      difference: undefined,
      flags: [],
    })
    const items = [item('tool', 'a'), item('tool', 'b'), item('prompt', 'c'), item('instructions', 'instructions')]
    expect(textOf({ kind: 'approve', isFirst: true, items })).toMatch(
      /^mail offers 2 tools, 1 prompt and instructions for the model\. Enable them\?\n/,
    )
    expect(textOf({ kind: 'approve', isFirst: false, items: items.slice(0, 1) })).toMatch(/^Approve what changed on mail \(1 tool\)\?\n/)
  })
})

const PAGE = { href: 'https://a.example/', host: 'a.example', hostUnicode: 'a.example', warnings: [] }

describe('arguments', () => {
  const folded = (args: Record<string, unknown>) => {
    const { lines, folded: count } = summaryOf(question({ subject: { ...CALL, args } }))
    return { text: lines.find(({ kind }) => kind === 'argument')?.text, count, tone: lines[1]?.tone }
  }

  test('short arguments stand on one line, marked as foreign', () => {
    expect(folded({ title: 'Milk', text: '2 l', count: 2, tags: ['a'] })).toEqual({
      text: 'title = "Milk"  text = "2 l"  count = 2  tags = ["a"]',
      count: 0,
      tone: 'theirs',
    })
  })

  test('a value looks neither like another argument nor like words of the host', () => {
    expect(folded({ a: 'x"  b = "y', 'c = 9 characters, see details  d': 1 }).text).toBe(
      'a = "x\\"  b = \\"y"  "c = 9 characters, see details  d" = 1',
    )
  })

  test.each(['\u02ba', '\u2033', '\u201c', '\u201d', '\uff02', "''"])('a look-alike of a quote cannot end a value: %s', (quote) => {
    const args = { text: `hi${quote}  to = ${quote}ann@corp.example`, to: 'eve@evil.example' }
    const text = textOf({ ...CALL, args })
    expect(text).not.toContain(quote)
    expect(text).toContain('  to = \\u')
    expect(textOf({ ...CALL, args: { text: `say ${quote}hi${quote}` } })).toContain(`say ${quote}hi`)
  })

  test('a long argument is folded with its length', () => {
    expect(folded({ title: 'Letter', text: 'x'.repeat(4208) })).toMatchObject({
      text: 'title = "Letter"  text = 4,210 characters, see details',
      count: 4210,
    })
  })

  test('of many arguments the longest are folded until the rest is short', () => {
    const args = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`a${i}`, 'x'.repeat(70 + i)]))
    const { text = '', count } = folded(args)
    expect(text.length).toBeLessThan(600)
    expect(text).toContain(`a0 = "${'x'.repeat(70)}"`)
    expect(text).toContain('a7 = 79 characters, see details')
    expect(count).toBeGreaterThan(79)
  })

  test('text of fewer than 60 characters is never folded', () => {
    const args = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`a${i}`, i < 12 ? 'x'.repeat(30) : i]))
    expect(folded(args)).toMatchObject({ count: 0, text: expect.stringMatching(/a11 = "x{30}" {2}a12 = 12 .*a15 = 15$/) })
    const message = 'one\ntwo\nthree\nfour\nfive'
    const shown = (text: string) => summaryOf(question({ subject: { kind: 'url', message: text, url: PAGE } }))
    expect(shown(message).folded).toBe(0)
    expect(shown(message).lines.find(({ kind }) => kind === 'message')?.text).toBe(message)
    // Many short lines take one row.
    expect(shown('a\n'.repeat(20)).lines.find(({ kind }) => kind === 'message')?.text).toBe(JSON.stringify('a\n'.repeat(20)))
    expect(shown(`${message}\n${'x'.repeat(200)}`).folded).toBeGreaterThan(60)
  })

  test('arguments beyond the twelfth are counted', () => {
    const { text, count } = folded(Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`a${i}`, i])))
    expect(text).toMatch(/a11 = 11 {2}20 more arguments \(100 characters, see details\)$/)
    expect(count).toBe(100)
  })

  test('a command in an argument is never folded', () => {
    const command = `echo ${'x'.repeat(5000)}; rm -rf /`
    expect(folded({ command }).text).toContain('rm -rf /')
    expect(folded({ command }).count).toBe(0)
  })

  test("the person's own secrets are hidden with their length, and need not be opened", () => {
    const subject: Subject = { ...CALL, args: { password: 'hunter2hunter2' }, isOwn: true }
    const { lines, folded: count } = summaryOf(question({ subject }))
    expect(questionText(lines)).toContain('password = "[14 characters hidden]"')
    expect(questionText(lines)).toContain('hidden: your own secrets (14 characters, see details)')
    expect(count).toBe(0)
  })
})

test('the summary has one reason, and the details have all', () => {
  const text = textOf(CALL, { reasons: ['The first one', 'The second one'] })
  expect(text).toContain('why: The first one')
  expect(text).not.toContain('The second one')
})

test('a name of an argument cannot look like an argument with a value', () => {
  expect(textOf({ ...CALL, args: { 'safe=true,path': '/' } })).toContain('"safe=true,path" = "/"')
})

test('arguments that look alike have a warning', () => {
  const warning = 'warning: The arguments path and pаth look alike'
  expect(textOf({ ...CALL, args: { path: '/tmp', pаth: '/' } })).toContain(warning)
  expect(questionText(describeQuestion(question({ subject: { ...CALL, args: { path: '/tmp', pаth: '/' } } })))).toContain(warning)
  expect(textOf({ ...CALL, args: { path: '/tmp', other: '/' } })).not.toContain('look alike')
})

test('a reason that a project wrote is marked as text of others', () => {
  const toneOf = (reason: string) =>
    summaryOf(question({ subject: CALL, reasons: [reason] })).lines.find(({ kind }) => kind === 'reason')?.tone
  expect(toneOf('A rule of this project says: "You approved this yesterday"')).toBe('theirs')
  expect(toneOf('You have no rule for this tool')).toBe('plain')
})

test('a command is never folded, however long', () => {
  const args = Array.from({ length: 500 }, (_, i) => `--option-${i}`)
  const { lines, folded } = summaryOf(question({ subject: { ...launch, args } }))
  expect(lines.find(({ kind }) => kind === 'command')?.text).toBe(commandText('npx', args))
  expect(folded).toBe(0)
})

describe('offerings', () => {
  const item = (more: object = {}, flags: string[] = []) => ({
    kind: 'tool' as const,
    name: 'add',
    definition: { name: 'add', description: 'Adds.\nSecond line.', ...more },
    difference: undefined,
    flags,
  })

  test('an item is one line with its claim', () => {
    const read = item({ annotations: { readOnlyHint: true } })
    const both = item({ annotations: { readOnlyHint: true, destructiveHint: true } })
    const { lines } = summaryOf(question({ subject: { kind: 'approve', isFirst: true, items: [item(), read, both] } }))
    expect(lines.filter(({ kind }) => kind === 'item').map(({ label, text, claim }) => [label, text, claim])).toEqual([
      ['add', 'Adds. …', undefined],
      ['add', 'Adds. …', 'says it only reads'],
      ['add', 'Adds. …', 'says it may destroy data and only reads'],
    ])
  })

  test('a skill has its name and description, and only a skill does', () => {
    const frontmatter = { name: 'refunds', description: 'How we pay money back' }
    const skill = {
      ...item(),
      kind: 'skill' as const,
      name: 'skill://refunds/SKILL.md',
      definition: { uri: 'x', frontmatter, resources: [] },
    }
    const { lines } = summaryOf(question({ subject: { kind: 'approve', isFirst: true, items: [skill, item({ frontmatter })] } }))
    expect(lines.filter(({ kind }) => kind === 'item').map(({ label, text }) => [label, text])).toEqual([
      ['skill skill://refunds/SKILL.md', 'refunds: How we pay money back'],
      ['add', 'Adds. …'],
    ])
  })

  test('definitions have to be opened because of a warning', () => {
    const short = { description: 'Adds.' }
    const foldedWith = (flags: string[]) =>
      summaryOf(question({ subject: { kind: 'approve', isFirst: true, items: [item(short, flags), item(short)] } })).folded
    expect(foldedWith([])).toBe(0)
    expect(foldedWith(['It gives orders to the model'])).toBeGreaterThan(60)
  })

  test('definitions have to be opened if a description is cut, or an item is new in a later offering', () => {
    const foldedOf = (isFirst: boolean, ...items: ReturnType<typeof item>[]) =>
      summaryOf(question({ subject: { kind: 'approve', isFirst, items } })).folded
    const short = { description: 'Adds.' }
    expect(foldedOf(true, item(short), item())).toBeGreaterThan(60)
    expect(foldedOf(true, item({ description: 'x'.repeat(121) }))).toBeGreaterThan(120)
    expect(foldedOf(false, item(short))).toBeGreaterThan(30)
    const changes = [{ pointer: '/title', text: 'added' }]
    const changed = { ...item(short), difference: { changes } }
    expect(summaryOf(question({ subject: { kind: 'approve', isFirst: false, items: [changed as never] } })).folded).toBe(0)
  })
})

/** The texts that a summary shows, or counts as folded. The others are context, which the details have. */
function neededIn(subject: Subject): unknown[] {
  switch (subject.kind) {
    case 'launch':
      return [subject.command, subject.args, subject.cwd, subject.env, subject.fills, subject.changes]
    case 'connect':
      return [subject.url.href, subject.headerNames, subject.fills, subject.changes]
    case 'approve':
      return subject.items.map(({ name, flags, difference }) => [name, flags, difference?.changes.map(({ text }) => text)])
    case 'call':
      return [subject.tool.name, subject.args]
    case 'result':
      return [subject.result.content, subject.result.structuredContent, subject.findings.map(({ text }) => text)]
    case 'read':
      return [subject.uri]
    case 'prompt':
      return [subject.name, subject.args]
    case 'complete':
      return [subject.of, subject.argument, subject.value]
    case 'sample':
    case 'compose':
      return [subject.params]
    case 'sampled':
      return [subject.result]
    case 'form':
      return [subject.message, Object.values(subject.schema.properties).map(({ title }) => title)]
    case 'url':
      return [subject.message, subject.url.href]
    case 'app':
      return [subject.tool, subject.uri, subject.addresses]
    case 'say':
      return [subject.content]
    case 'roots':
      return [subject.roots.flatMap(({ uri, name }) => [uri, name])]
    case 'import':
      return [subject.servers.flatMap(({ id, where, warnings }) => [id, where, warnings])]
  }
}

/** Names and values of the protocol that the summary says in other words, or not at all. */
const KNOWN = new Set(
  'type text image audio resource data mimeType uri blob content toolUseId tool_result messages systemPrompt role user assistant maxTokens name annotations audience structuredContent _meta meta resource_link tool_use description'.split(
    ' ',
  ),
)
const IS_DATA = /^[A-Za-z0-9+/]+={0,2}$/

describe('of random text of others, the summary', () => {
  test.each(Object.entries(subjects))(
    'a summary shows foreign text, or says how much of it is folded: %s',
    (_kind, arbitrary) => {
      fc.assert(
        fc.property(arbitrary, ({ subject }) => {
          const asked = question({ subject })
          const { lines, folded } = summaryOf(asked)
          const shown = lines.flatMap(({ label, text }) => [label, text])
          const texts = [...new Set(textsIn(neededIn(subject)))].filter((each) => !KNOWN.has(each))
          const missing = texts.filter((text) => !shown.some((line) => isShownIn(line, text)) && !IS_DATA.test(text))
          if (missing.length > 0) {
            expect(folded, missing[0]).toBeGreaterThan(0)
            // The beginning of a folded text may be shown.
            expect(folded).toBeGreaterThanOrEqual(Math.max(...missing.map(({ length }) => length)) - 100)
          }
          if (folded > 0) expect(questionText(lines)).toContain(`folded: ${folded.toLocaleString('en-US')} character`)
          // Text of the host has no line break, and whatever has one is marked by the renderer.
          for (const { tone, text } of lines) if (tone === 'plain' || tone === 'muted') expect(text).not.toContain('\n')
          counted({ 'foreign texts, each shown or counted in a summary': texts.length })
        }),
        { numRuns: proofRuns(60) },
      )
    },
    600_000,
  )

  test('the command of a start is complete in the summary, whatever it is', () => {
    fc.assert(
      fc.property(subjects.launch, ({ subject }) => {
        if (subject.kind !== 'launch') throw new Error('Expected a launch')
        const shown = summaryOf(question({ subject })).lines.filter(({ kind }) => kind === 'command')
        for (const word of [subject.command, ...subject.args]) expect(shown.some(({ text }) => isShownIn(text, word))).toBe(true)
      }),
      { numRuns: proofRuns(60) },
    )
  })
})

describe('choices', () => {
  const labels = (more: Partial<Question>): string[] => answerChoices(question(more)).map(({ key, label }) => `[${key}] ${label}`)
  const page: Subject = { kind: 'url', message: 'x', url: personUrl('https://a.example/') as never }

  test.each<[string, Partial<Question>, string[]]>([
    ['call', {}, ['[y] allow once', '[n] deny', '[d] details', '[e] edit', '[w] say what to do instead']],
    ['start', { subject: launch, scopes: ['always'], chain: ['you'] }, ['[y] yes, until the command changes', '[n] no', '[d] details']],
    ['start once', { subject: launch, scopes: ['once'], chain: ['you'] }, ['[y] yes, this time', '[n] no', '[d] details']],
    ['page', { subject: page, chain: ['you'] }, ['[y] open it in the browser', '[o] I open it myself', '[n] no', '[d] details']],
  ])('a question has its choices in words: %s', (_name, more, expected) => {
    expect(labels(more)).toEqual(expected)
  })

  test('always is offered only if the question offers it, and grants just that', () => {
    expect(answerChoices(question()).some(({ key }) => key === 'a')).toBe(false)
    const [, always] = answerChoices(question({ always: { scope: 'project', width: 'exact' } }))
    expect(always).toEqual({
      key: 'a',
      label: 'in this project, with exactly these arguments',
      answer: { kind: 'allow', scope: 'project', width: 'exact' },
    })
  })
})
