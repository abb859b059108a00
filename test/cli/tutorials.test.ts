/** The commands that the tutorials and the page about the command show, in a terminal, with the output that a reader sees. */

import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
// @ts-expect-error a plain script without types
import { snippets } from '../../scripts/snippets.mjs'
import { temporaryFolders } from '../support/folders.ts'
import { CLI, portico } from './support/cli.ts'
import { project } from './support/project.ts'
import { KEY, startTerminal, typeLine } from './support/terminal.ts'

const newFolder = temporaryFolders()

interface Shown {
  page: string
  command: string
  lines: string[]
}

/** Blocks that begin with a command of Portico. */
function shownIn(page: string): Shown[] {
  const text = readFileSync(`${root}/${page}`, 'utf8')
  return [...text.matchAll(/^```\n\$ ((?:npx )?portico .*)\n([\s\S]*?)^```$/gm)].map(([, command = '', output = '']) => ({
    page,
    command,
    lines: output.trimEnd().split('\n'),
  }))
}

/** The project that a reader has made, up to the end of the page. */
function folderOf(page: string): string {
  const files = (snippets() as { page: string; file: string; code: string }[]).filter((each) => each.page === page)
  return project(newFolder(), Object.fromEntries(files.map(({ file, code }) => [file, code])))
}

/** `npx portico` finds the command of the project, and `portico` an installed one. */
const argumentsOf = (command: string): string[] =>
  command
    .replaceAll(/(?:npx )?\bportico (?=[a-z])/g, `${process.execPath} ${CLI} `)
    .split(' ')
    .slice(1)

/** Another port, another time and another place of the program are as good. */
const comparable = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/\d+ ms$/gm, 'N ms')
    .replaceAll(/^✓ found .*$/gm, '✓ found')
    .trimEnd()

/** These need a server elsewhere, or show a part of what is printed. */
const NOT_HERE = /^portico doctor files$/

const all = [
  ...['docs/tutorial-server.md', 'docs/tutorial-client.md', 'docs/tutorial-agent.md'].flatMap(shownIn),
  ...shownIn('docs/cli.md').filter(({ command, lines }) => !NOT_HERE.test(command) && !lines.some((line) => line.startsWith('$ '))),
]

describe('the pages show what the commands print', () => {
  test('there are commands with output', () => expect(all.length).toBeGreaterThan(7))

  test.each(all)(
    '$page: $command',
    async ({ page, command, lines }) => {
      const folder = folderOf(page)
      const env = { HOME: folder, NO_COLOR: '1', PORTICO_PORT: '0' }
      const terminal = startTerminal(argumentsOf(command), { cwd: folder, env, columns: 150 })
      const shown = comparable(lines.join('\n'))
      const isSeen = (text: string): Promise<void> =>
        expect.poll(() => comparable(terminal.text()), { timeout: 20_000 }).toBe(comparable(text))
      for (const [at, line] of lines.entries()) {
        if (!line.startsWith('> ')) continue
        await isSeen([...lines.slice(0, at), '>'].join('\n'))
        await typeLine(terminal, line.slice(2))
      }
      if (shown.endsWith('(Ctrl-C to stop)')) {
        await isSeen(shown)
        terminal.type(KEY.interrupt)
        await terminal.exit
        return
      }
      await terminal.exit
      await isSeen(shown)
    },
    90_000,
  )

  test('the audit log of the agent is in its folder, and the command reads it there', async () => {
    const folder = folderOf('docs/tutorial-agent.md')
    for (const file of ['agent-once.mjs', 'agent-rules.mjs']) {
      const terminal = startTerminal([file], { cwd: folder, env: { HOME: folder } })
      expect(await terminal.exit, terminal.text()).toBe(0)
    }
    const page = readFileSync(`${root}/docs/tutorial-agent.md`, 'utf8')
    expect(page).toContain('export PORTICO_HOME=.portico')
    const run = (...args: string[]) => portico(args, { cwd: folder, env: { HOME: folder, PORTICO_HOME: '.portico' } })
    const { stdout } = await run('audit', 'show', '--action', 'tool.call')
    const shown = page.split('\n').filter((line) => / allowed tool\.call /.test(line))
    const plain = (line: string): string =>
      line.replace(/^ *\d+ \S+ /, '').replace(/\((\w+), \w+ answered allow: \w+ approved/, '($1, me answered allow: me approved')
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .filter((line) => line.includes(' tool.call '))
        .map(plain),
    ).toEqual(shown.map(plain))
    expect((await run('audit', 'verify')).code).toBe(0)
  }, 90_000)
})
