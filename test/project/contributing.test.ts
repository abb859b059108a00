import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

const page = readFileSync(`${root}CONTRIBUTING.md`, 'utf8')
const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }
const foldersOf = (folder: string): string[] =>
  readdirSync(`${root}${folder}`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

describe('CONTRIBUTING.md', () => {
  test('every folder of tests has the name of a folder of src, or a row that says what it tests', () => {
    const unnamed = foldersOf('test').filter((name) => !existsSync(`${root}src/${name}`) && !page.includes(`| \`test/${name}/\` |`))
    expect(unnamed).toEqual([])
  })

  test('every npm command that it names exists', () => {
    const named = [...page.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => scripts[name as string] === undefined)).toEqual([])
  })

  test('what it says is in a file is in that file', () => {
    const said = [...page.matchAll(/`(\w+)`\s(?:in|of)\s`((?:src|scripts|test)\/[\w./-]+\.\w+)`/g)]
    expect(said.length).toBeGreaterThan(3)
    for (const [, name = '', file = ''] of said) expect(readFileSync(`${root}${file}`, 'utf8'), file).toContain(name)
  })

  test('it explains a method, a revision, a command, a configuration format and a release', () => {
    for (const what of ['add a method', 'add a revision', 'add a command', 'add a configuration format', 'release'])
      expect(page).toContain(`\n## How to ${what}\n`)
  })
})

interface Form {
  name: string
  description: string
  body: { type: string; id?: string; attributes: { label?: string }; validations?: { required: boolean } }[]
}

test.each(['bug.yml', 'idea.yml'])('the form %s asks labelled questions, and needs the first answer', (file) => {
  const { name, description, body } = parse(readFileSync(`${root}.github/ISSUE_TEMPLATE/${file}`, 'utf8')) as Form
  expect([name, description]).not.toContain('')
  const questions = body.filter(({ type }) => type !== 'markdown')
  for (const { type, id, attributes } of questions) {
    expect(['textarea', 'input']).toContain(type)
    expect([id, attributes.label]).not.toContain(undefined)
  }
  expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length)
  expect(questions[0]?.validations).toEqual({ required: true })
})

test('the template of a pull request names commands and files that exist', () => {
  const text = readFileSync(`${root}.github/pull_request_template.md`, 'utf8')
  for (const [, name = ''] of text.matchAll(/npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty(name)
  for (const [file] of text.matchAll(/\b[A-Z]+\.md\b/g)) expect(existsSync(`${root}${file}`), file).toBe(true)
})
