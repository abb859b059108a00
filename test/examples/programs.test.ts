/** Every example does what its README says. */

import { spawn } from 'node:child_process'
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { format } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

/** A folder of skills is no program. */
const NO_PROGRAMS = ['skills']

const folders = readdirSync(`${root}/examples`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !NO_PROGRAMS.includes(entry.name))
  .map(({ name }) => name)

/** Runs a command of a README, without the wait for npx. Returns what it prints. */
async function outputOf(command: string): Promise<string> {
  const [line = '', input] = command.split(' < ')
  const [, ...args] = line.replace(/^npx tsx /, 'node --import tsx ').split(' ')
  const program = args.at(-1) ?? ''
  // Most programs end with their last line, so they run here, one after the other. A process for each would take longer.
  if (input === undefined && !args.includes('--test')) {
    const lines: string[] = []
    const spy = vi.spyOn(console, 'log').mockImplementation((...values) => void lines.push(format(...values)))
    try {
      await import(`${root}/${program}`)
    } finally {
      spy.mockRestore()
    }
    return lines.join('\n')
  }
  const stdin = input === undefined ? 'ignore' : openSync(`${root}/${input}`, 'r')
  const child = spawn(process.execPath, args, { cwd: root, stdio: [stdin, 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout?.on('data', (text) => {
    output += String(text)
  })
  child.stderr?.on('data', (text) => {
    errors += String(text)
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect(code, output + errors).toBe(0)
  const lines = output.trimEnd().split('\n')
  return (args.includes('--test') ? lines.filter((each) => /^(not )?ok /.test(each)) : lines).join('\n')
}

const block = (text: string, language: string): string => new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(text)?.[1] ?? ''

describe('the examples', () => {
  test.each(folders)('%s prints what its README says', { timeout: 60_000 }, async (folder) => {
    const readme = readFileSync(`${root}/examples/${folder}/README.md`, 'utf8')
    expect(await outputOf(block(readme, 'sh'))).toBe(block(readme, 'text'))
  })
})

test.each(folders)('the README of %s says how to run it in a project of your own', (folder) => {
  const readme = readFileSync(`${root}/examples/${folder}/README.md`, 'utf8')
  const own = readme.slice(readme.indexOf('In a project of your own'))
  const installed = (/`npm install ([^`]+)`/.exec(own)?.[1] ?? '').split(' ').map((name) => name.replace(/(?<=.)@.*/, ''))
  const imported = readdirSync(`${root}/examples/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|mjs)$/.test(name))
    .flatMap((name) => [
      ...readFileSync(`${root}/examples/${folder}/${name}`, 'utf8').matchAll(/ from '(?!\.|node:)((?:@[^/']+\/)?[^/']+)/g),
    ])
    .map(([, name]) => name)
  expect(installed).toEqual(expect.arrayContaining(imported))
  // A new project is CommonJS, where tsx refuses to wait at the top level of a module.
  if (!block(readme, 'sh').startsWith('npx tsx ')) return
  expect(own).toContain('`npm pkg set type=module`')
  expect(installed).toContain('tsx')
})

test('the lists of examples name every folder', () => {
  expect(folders.length).toBeGreaterThanOrEqual(12)
  for (const [page, prefix] of [
    ['examples/README.md', ''],
    ['docs/examples.md', '../examples/'],
  ]) {
    const text = readFileSync(`${root}/${page}`, 'utf8')
    for (const folder of folders) expect(text, page).toContain(`(${prefix}${folder}/README.md)`)
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      expect(existsSync(`${root}/${page?.split('/')[0]}/${target}`), `${page} -> ${target}`).toBe(true)
  }
})
