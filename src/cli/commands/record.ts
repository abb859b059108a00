/** `portico record`: a proxy between a client and a server that records every message. */

import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { headingLine, messageLine, proxyStdio } from '../../testing/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { targetFor, warningPrinter } from '../connections/connect.ts'
import { type DirectServer, withDirect } from '../connections/direct.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { parseTarget } from '../connections/target.ts'
import { UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'

const DEFAULT_MAX_MEGABYTES = 256

interface RecordOptions extends TargetOptions {
  maxMegabytes: number
}

export function registerRecord(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('record')
      .summary('record the messages of a client and a server')
      .description(
        'Configure it in a client in place of the server. It starts or connects to the server, forwards everything, and writes\n' +
          'every message to FILE, one JSON object per line, with secrets hidden. "portico replay" plays it back.',
      )
      .argument('<file>')
      .argument('[server]')
      .usage('[options] <file> <url> | <file> <name> | <file> -- command...'),
  )
    .option('--max-megabytes <n>', 'maximum size of the file', Number, DEFAULT_MAX_MEGABYTES)
    .action(runner.action(recordAction, { takesCommand: true }))
}

async function recordAction(invocation: Invocation, file: string, server: string | undefined, options: RecordOptions): Promise<ExitName> {
  if (!(options.maxMegabytes > 0)) throw new UsageError('--max-megabytes: expected a number above 0')
  const { target } = parseTarget(server === undefined ? [] : [server], invocation.after)
  return withDirect(invocation, target, options, (direct) => recordDirect(invocation, file, direct))
}

async function recordDirect(invocation: Invocation, file: string, direct: DirectServer<RecordOptions>): Promise<ExitName> {
  const { io, screen, signal } = invocation
  const { options, title, scrub } = direct
  const reached = await targetFor(invocation, direct)
  const handle = await open(resolve(io.cwd, file), 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new UsageError(`${file} already exists`, 'Choose another name, or remove it first') : error
  })
  let left = options.maxMegabytes * 1024 * 1024
  let isFull = false
  let isOver = false
  let writing: Promise<unknown> = handle.appendFile(headingLine(title, new Date()))
  const write = (line: string): void => {
    left -= Buffer.byteLength(line)
    if (left < 0 && !isFull) {
      isFull = true
      screen.note(safe`${screen.noteStyle.yellow('!')} ${file} is full (--max-megabytes): recording stopped`)
    }
    if (!isFull && !isOver) writing = writing.then(() => handle.appendFile(line))
  }
  if (io.stdin.isTTY === true)
    screen.note(safe`Recording to ${file}. Waiting for a client on standard input: configure this command in a client (Ctrl-C to stop)`)
  try {
    await proxyStdio(reached, {
      input: io.stdin,
      output: io.stdout.stream,
      signal,
      onMessage: (passed) => write(scrub(messageLine(passed))),
      onWarning: warningPrinter(invocation),
    })
  } finally {
    isOver = true
    await writing
    await handle.close()
  }
  return isFull ? 'failed' : 'ok'
}
