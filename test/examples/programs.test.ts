/** Every example does what its README says. */

import { spawn } from 'node:child_process'
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'

/** A folder of skills is no program. */
const NO_PROGRAMS = ['skills']

const folders = readdirSync(`${root}/examples`, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !NO_PROGRAMS.includes(entry.name))
  .map(({ name }) => name)

interface Outcome {
  code: number | null
  output: string
  errors: string
}

/** Runs a command of a README, without the wait for npx. */
function run(command: string): Promise<Outcome> {
  const [line = '', input] = command.split(' < ')
  const [program, ...args] = line.replace(/^npx tsx /, 'node --import tsx ').split(' ')
  expect(program, command).toBe('node')
  const stdin = input === undefined ? 'ignore' : openSync(`${root}/${input}`, 'r')
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: [stdin, 'pipe', 'pipe'] })
    let output = ''
    let errors = ''
    child.stdout?.on('data', (text) => {
      output += String(text)
    })
    child.stderr?.on('data', (text) => {
      errors += String(text)
    })
    child.on('close', (code) => resolve({ code, output, errors }))
  })
}

const block = (text: string, language: string): string => new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(text)?.[1] ?? ''

describe.concurrent('the examples', () => {
  test.each(folders)('%s prints what its README says', async (folder) => {
    const readme = readFileSync(`${root}/examples/${folder}/README.md`, 'utf8')
    const command = block(readme, 'sh')
    const { code, output, errors } = await run(command)
    expect(code, output + errors).toBe(0)
    const lines = output.trimEnd().split('\n')
    const shown = command.includes('--test ') ? lines.filter((line) => /^(not )?ok /.test(line)) : lines
    expect(shown.join('\n')).toBe(block(readme, 'text'))
  })
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
