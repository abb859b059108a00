/** Every option that users can set, and every command and flag, is named on a page of the documentation. */

import { readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import type { CommandRunner } from '../../src/cli/command-runner.ts'
import type { Io } from '../../src/cli/io.ts'
import { programFor } from '../../src/cli/program.ts'
import { publicNames } from '../support/public-names.ts'

const pages = readdirSync(`${root}/docs`)
  .filter((name) => name.endsWith('.md'))
  .map((name) => readFileSync(`${root}/docs/${name}`, 'utf8'))
  .join('\n')

/** Names in code: snippets and `quoted` text. Prose does not count: `name` and `path` are words. */
const code = [...pages.matchAll(/^```[\s\S]*?^```$|`[^`\n]+`/gm)].map(([text]) => text).join('\n')
const namesInCode = new Set(code.match(/[\w$]+/g))
const flagsInCode = new Set(code.match(/(?<![\w-])--?[a-zA-Z][\w-]*/g))

/** Interfaces whose members users set. */
const OPTIONS = /(?:Options|Settings|Bounds|Definition|Init)$/

describe('options', () => {
  const options = publicNames().filter(({ name }) => OPTIONS.test(name))

  test('the interfaces with options are found', () => {
    const names = options.map(({ name }) => name)
    expect(names.length).toBeGreaterThan(40)
    expect(names).toEqual(expect.arrayContaining(['ServerOptions', 'ConnectOptions', 'HostOptions', 'ToolDefinition', 'ListenOptions']))
  })

  test('every option is in the documentation', () => {
    const missing = options.flatMap(({ entry, name, members }) =>
      members
        .filter(({ name: member, doc }) => !doc?.includes('@internal') && !namesInCode.has(member))
        .map(({ name: member }) => `${entry} ${name}.${member}`),
    )
    expect([...new Set(missing)]).toEqual([])
  })
})

describe('commands', async () => {
  const program = await programFor([], { action: () => () => {} } as unknown as CommandRunner, { stdout: {}, stderr: {} } as Io)
  const all = (command: Command, path: string): { path: string; command: Command }[] =>
    command.commands.flatMap((each) => [{ path: `${path} ${each.name()}`, command: each }, ...all(each, `${path} ${each.name()}`)])
  // What begins with two underscores is for scripts of shells.
  const commands = all(program, 'portico').filter(({ command }) => !/^(?:help$|__)/.test(command.name()))

  test('every command is in the documentation', () => {
    expect(commands.length).toBeGreaterThan(50)
    const missing = commands.filter(({ path, command }) => !code.includes(path) && !new RegExp(`\\b${command.name()}\\b`).test(code))
    expect(missing.map(({ path }) => path)).toEqual([])
  })

  test('every flag is in the documentation', () => {
    const missing = commands.flatMap(({ path, command }) =>
      command.options.filter(({ long, hidden }) => !hidden && long && !flagsInCode.has(long)).map(({ flags }) => `${path} ${flags}`),
    )
    expect(missing).toEqual([])
  })
})
