/** `portico migrate`: moves code from other libraries to Portico, as far as that is mechanical. */

import { readFile, writeFile } from 'node:fs/promises'
import { relative } from 'node:path'
import type { Command } from 'commander'
import { asText } from '../../base/as-text.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import type { ExitName } from '../exit-codes.ts'
import { type Migrated, migrateText } from '../migrate/migrate.ts'
import { sourceFiles } from '../migrate/source-files.ts'
import { loadTypeScript } from '../migrate/syntax.ts'
import { textDiff } from '../migrate/text-diff.ts'
import { safe } from '../output/safe-text.ts'

interface MigrateOptions {
  write?: true
}

export function registerMigrate(program: Command, runner: CommandRunner): void {
  program
    .command('migrate')
    .summary('move code from another library to Portico')
    .description(
      'Moves servers and clients from the official SDK (v1 and v2) and from FastMCP, as far as that is mechanical. Shows the changes;\n' +
        'with --write it makes them. Where you must decide, it leaves a comment "TODO(portico)" with the reason.',
    )
    .argument('[paths...]', 'files and folders. Default: the current folder')
    .option('--write', 'change the files')
    .addHelpText('after', '\nExamples:\n  portico migrate src\n  portico migrate src --write')
    .action(runner.action(migrateAction))
}

async function migrateAction({ io, screen }: Invocation, paths: string[], { write }: MigrateOptions): Promise<ExitName> {
  const ts = loadTypeScript(io.cwd)
  const files = await sourceFiles(io.cwd, paths.length === 0 ? ['.'] : paths)
  const migrated: { name: string; file: Migrated }[] = []
  const { noteStyle } = screen
  let exit: ExitName = 'ok'
  for (const path of files) {
    const name = relative(io.cwd, path)
    try {
      const before = textOf(await readFile(path))
      const file = migrateText(ts, path, before)
      if (!file) continue
      if (write && file.text !== before) await writeFile(path, file.text)
      else if (file.text !== before) printDiff(screen, name, before, file.text)
      migrated.push({ name, file })
    } catch (error) {
      // One file that cannot be moved must not leave the others half done.
      exit = 'failed'
      screen.note(safe`${noteStyle.red('✗')} ${name}: not changed: ${reasonOf(error)}`)
    }
  }
  if (migrated.length === 0) {
    if (exit === 'ok') screen.note(safe`None of ${files.length} files imports the official SDK or FastMCP`)
    return exit
  }
  for (const { name, file } of migrated) {
    const mark = file.leftovers.length === 0 ? noteStyle.green('✓') : noteStyle.yellow('!')
    screen.note(
      safe`${mark} ${name}: ${write ? 'moved' : 'would move'} from ${file.from.join(' and ')}${file.leftovers.length === 0 ? '' : `, ${file.leftovers.length} left to you`}`,
    )
    for (const { line, reason } of file.leftovers) screen.note(safe`  line ${line}: ${reason}`)
  }
  if (!write) screen.note(safe`Nothing was changed. --write changes the files.`)
  else screen.note(safe`Next: npm install portico, run your formatter and your tests, and look for TODO(portico)`)
  return exit
}

/** The bytes that are not UTF-8 would be lost when the file is written. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error('it is not UTF-8')
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'its code is nested too deeply'
  return error instanceof Error ? error.message : asText(error)
}

function printDiff(screen: Invocation['screen'], name: string, before: string, after: string): void {
  const { style } = screen
  screen.printWhole(safe`${style.bold(name)}`)
  for (const [i, place] of textDiff(before, after).entries()) {
    if (i > 0) screen.printWhole(safe`${style.dim('...')}`)
    for (const { sign, text } of place) {
      const line = safe`${sign}${text.replace(/\r$/, '')}`
      screen.printWhole(sign === '+' ? style.green(line) : sign === '-' ? style.red(line) : line)
    }
  }
}
