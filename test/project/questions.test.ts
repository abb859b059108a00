import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

const page = readFileSync(`${root}/docs/questions.md`, 'utf8')
const source = readFileSync(`${root}/src/host/model/question.ts`, 'utf8')

/** The text of one type in the source. */
function typeText(name: string): string {
  const start = source.search(new RegExp(`^export (type|interface) ${name}\\b`, 'm'))
  const end = source.indexOf('\nexport ', start + 1)
  return source.slice(start, end)
}

test('the page about questions has a row for every kind of subject, with its members', () => {
  const subjects = typeText('Subject')
    .split(/^ {2}\| /m)
    .slice(1)
  expect(subjects.length).toBeGreaterThan(10)
  for (const subject of subjects) {
    const kind = /kind: '([^']+)'/.exec(subject)?.[1]
    const row = page.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`))
    expect(row, kind).toBeDefined()
    const members = [...subject.replaceAll(/\/\*\*.*?\*\//gs, '').matchAll(/(?:^ {6}|[{;] )(\w+)\??:/gm)].map(
      ([, member]) => member as string,
    )
    for (const member of members) if (member !== 'kind') expect(row, kind).toContain(member)
  }
})

test('the page about questions has every member of a question and every kind of answer', () => {
  const members = [...typeText('Question').matchAll(/^ {2}(\w+)\??:/gm)].map(([, member]) => member as string)
  expect(members.length).toBeGreaterThan(8)
  for (const member of members) expect(page).toContain(`\`${member}\``)
  const kinds = [...typeText('Answer').matchAll(/kind: '(\w+)'/g)].map(([, kind]) => kind as string)
  expect(kinds.length).toBeGreaterThan(2)
  for (const kind of kinds) expect(page).toContain(`{ kind: '${kind}'`)
})
