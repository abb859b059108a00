/** `portico record`: stands between a client and a server and writes down what they say. */

import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { ExitName } from '../exit-codes.ts'
import { UsageError } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { words } from '../output/shown.ts'
import { reach, warningsOf } from '../target/connect.ts'
import { addTargetOptions, type TargetOptions } from '../target/options.ts'
import { describeTarget, takeTarget } from '../target/target.ts'
import { proxy } from '../transcript/proxy.ts'
import { headingLine, messageLine } from '../transcript/transcript.ts'

const DEFAULT_MAX_MEGABYTES = 256

interface RecordOptions extends TargetOptions {
  maxMegabytes: number
}

export function registerRecord(program: Command, frame: Frame): void {
  addTargetOptions(
    program
      .command('record')
      .summary('write down what a client and a server say')
      .description(
        'Give it to a client in the place of the server: it starts or reaches the server, passes everything on, and writes\n' +
          'every message to FILE, one JSON object a line, with secrets hidden. portico replay plays it back.',
      )
      .argument('<file>')
      .argument('[server]')
      .usage('[options] <file> <url> | <file> -- command...'),
  )
    .option('--max-megabytes <n>', 'how large the file may become', Number, DEFAULT_MAX_MEGABYTES)
    .action(frame.action(recordAction, { takesCommand: true }))
}

async function recordAction(invocation: Invocation, file: string, server: string | undefined, options: RecordOptions): Promise<ExitName> {
  const { io, screen, signal } = invocation
  if (!(options.maxMegabytes > 0)) throw new UsageError('--max-megabytes needs a number above 0')
  const { target } = takeTarget(server === undefined ? [] : [server], invocation.after)
  const reached = await reach(invocation, target, options)
  const handle = await open(resolve(io.cwd, file), 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new UsageError(`${file} is there already`, 'Give another name, or remove it first') : error
  })
  let left = options.maxMegabytes * 1024 * 1024
  let isFull = false
  let isOver = false
  let writing: Promise<unknown> = handle.appendFile(headingLine(describeTarget(target), new Date()))
  const write = (line: string): void => {
    left -= Buffer.byteLength(line)
    if (left < 0 && !isFull) {
      isFull = true
      screen.note(words`${screen.noteStyle.yellow('!')} ${file} is full (--max-megabytes): no more is written down`)
    }
    if (!isFull && !isOver) writing = writing.then(() => handle.appendFile(line))
  }
  try {
    await proxy(reached, {
      input: io.stdin,
      output: io.stdout.stream,
      signal,
      onPassed: (passed) => write(messageLine(passed)),
      onWarning: warningsOf(invocation),
    })
  } finally {
    isOver = true
    await writing
    await handle.close()
  }
  return isFull ? 'failed' : 'ok'
}
