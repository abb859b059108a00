/** `portico generate client`: typed client code from a live server. */

import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { withSession } from '../connections/session.ts'
import { parseTarget } from '../connections/target.ts'
import { UsageError } from '../errors.ts'
import { clientModule, MADE_BY } from '../generate/client-module.ts'
import { counted } from '../output/counted.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'

interface GenerateOptions extends TargetOptions {
  output?: string
}

export function registerGenerate(program: Command, runner: CommandRunner): void {
  const generate = program
    .command('generate')
    .summary('write typed client code for a server')
    .description('Writes code from what a server offers.')
  addTargetOptions(
    generate
      .command('client')
      .description('Writes a TypeScript module with a function and types for each tool of a server.')
      .argument('[server]')
      .usage('[options] <url> | <name> | -- command...')
      .addHelpText(
        'after',
        '\nExamples:\n  portico generate client https://example.com/mcp --output src/example.ts\n  portico generate client -- npx -y some-server',
      ),
  )
    .option('-o, --output <file>', 'write to this file. Default: standard output')
    .action(runner.action(clientAction, { takesCommand: true }))
}

async function clientAction(invocation: Invocation, server: string | undefined, options: GenerateOptions): Promise<void> {
  const { io, screen } = invocation
  const { target } = parseTarget(server === undefined ? [] : [server], invocation.after)
  const tools = await withSession(invocation, target, options, (session) => session.tools())
  const text = clientModule(tools)
  if (options.output === undefined) return screen.printWhole(untrustedLines(text.trimEnd()))
  const file = resolve(io.cwd, options.output)
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before !== undefined && !before.startsWith(MADE_BY))
    throw new UsageError(`${options.output} exists, and was not made by this command`, 'Choose another name, or remove it first')
  await writeFile(file, text)
  screen.note(safe`${screen.noteStyle.green('✓')} ${options.output}: ${counted(tools.length, 'tool')}`)
}
