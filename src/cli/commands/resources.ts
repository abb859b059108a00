/** `portico resources` and `portico read`: lists resources, and reads one. */

import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { asText } from '../../base/as-text.ts'
import type { ResourceContents } from '../../client/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { printResources } from '../connections/listings.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { withSession } from '../connections/session.ts'
import { parseTarget } from '../connections/target.ts'
import { UsageError } from '../errors.ts'
import { printContents } from '../output/content.ts'
import { counted } from '../output/counted.ts'
import { bytesOf, MediaFolder } from '../output/media.ts'
import { safe } from '../output/safe-text.ts'

export function registerResources(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('resources')
      .summary('list the resources of a server')
      .description('Lists the resources and resource templates of a server.')
      .argument('[server]'),
  )
    .usage('[options] <server> | -- command...')
    .option('--json', 'write JSON')
    .action(runner.action(resourcesAction, { takesCommand: true }))
}

export function registerRead(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('read')
      .summary('read a resource')
      .description(
        'Reads a resource. Prints text (control characters are made visible) and saves anything else to a file. -o writes the exact bytes.',
      )
      .argument('[server]')
      .argument('[uri]')
      .usage('[options] <server> <uri> | <uri> -- command...'),
  )
    .option('-o, --output <file>', 'write the exact bytes to this file; - for standard output (not to a terminal)')
    .option('--save <folder>', 'save non-text content in this folder')
    .option('--json', 'write JSON')
    .action(runner.action(readAction, { takesCommand: true }))
}

async function resourcesAction(invocation: Invocation, server: string | undefined, options: TargetOptions): Promise<void> {
  const { target } = parseTarget(server === undefined ? [] : [server], invocation.after)
  await withSession(invocation, target, options, async (session) => printResources(invocation.screen, await session.resources()))
}

interface ReadOptions extends TargetOptions {
  output?: string
  save?: string
}

async function readAction(
  invocation: Invocation,
  first: string | undefined,
  second: string | undefined,
  options: ReadOptions,
): Promise<void> {
  const given = [first, second].filter((word) => word !== undefined)
  const { target, rest } = parseTarget(given, invocation.after)
  const [uri] = rest
  if (uri === undefined) throw new UsageError('Missing URI', '"portico resources SERVER" lists them')
  const { io, screen, signal } = invocation
  if (options.output === '-' && io.stdout.isTTY)
    throw new UsageError('Raw bytes of a server are not written to a terminal', 'Leave out -o, or write to a file')
  await withSession(invocation, target, options, async (session) => {
    const { contents } = await session.read(uri, { signal })
    if (options.output !== undefined) return writeContents(invocation, options.output, contents)
    if (screen.isJson) return screen.printJson({ contents })
    const media = new MediaFolder(io, { folder: options.save })
    for (const each of contents) await printContents({ io, screen }, each, media, 'resource')
  })
}

async function writeContents({ io, screen }: Invocation, output: string, contents: readonly ResourceContents[]): Promise<void> {
  const parts = contents.map((each) => ('text' in each ? Buffer.from(asText(each.text)) : (bytesOf(asText(each.blob)) ?? Buffer.alloc(0))))
  if (output === '-') return screen.printBytes(Buffer.concat(parts))
  const file = await open(resolve(io.cwd, output), 'w')
  try {
    for (const part of parts) await file.write(part)
  } finally {
    await file.close()
  }
  screen.note(
    safe`sum + part.length, 0)} bytes written to ${output} => ${counted(
      parts.reduce((sum, part) => sum + part.length, 0),
      'byte',
    )} written to ${output} => sum + part.length, 0)} bytes written to ${output}`,
  )
}
