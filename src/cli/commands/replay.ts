/** `portico replay`: serves a recording, or compares a server with it. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { Playback, type ReplayedExchange, replayTranscript, servePlayback, type Transcript } from '../../testing/index.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { withClient } from '../connections/connect.ts'
import { withDirect } from '../connections/direct.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { parseTarget } from '../connections/target.ts'
import { UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { counted } from '../output/counted.ts'
import { jsonText } from '../output/json.ts'
import { safe } from '../output/safe-text.ts'
import { personalAnswers } from '../terminal/answers.ts'
import { readTranscript } from '../transcript/read-transcript.ts'

interface ReplayOptions extends TargetOptions {
  against?: string | true
  calls: boolean
}

export function registerReplay(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('replay')
      .summary('serve a recording, or compare a server with it')
      .description(
        'Serves a recording of "portico record" on standard streams: a recorded request gets its recorded answer.\n' +
          'With --against, sends the recorded requests to a server and shows where its answers differ.',
      )
      .argument('<file>')
      .usage('[options] <file> | <file> --against <server> | <file> --against -- command...'),
  )
    .option('--against [server]', 'send the requests to this server and compare')
    .option('--no-calls', 'with --against: skip tool calls, which may have effects')
    .option('--json', 'with --against: write JSON')
    .action(runner.action(replayAction, { takesCommand: true }))
}

async function replayAction(invocation: Invocation, file: string, options: ReplayOptions): Promise<ExitName> {
  const transcript = await readTranscript(resolve(invocation.io.cwd, file)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new UsageError(`No such file: ${JSON.stringify(file)}`) : error
  })
  if (options.against !== undefined) return compareWith(invocation, transcript, options)
  if (invocation.after !== undefined) throw new UsageError('A command after -- needs --against')
  await serveRecording(invocation, transcript)
  return 'ok'
}

/** Resolves when the client has closed our input. */
function serveRecording({ io, screen, signal }: Invocation, { heading, messages }: Transcript): Promise<void> {
  const playback = new Playback(messages)
  screen.note(safe`Playing ${counted(playback.size, 'answer')} of ${heading.target}, recorded ${heading.at}`)
  if (io.stdin.isTTY === true) screen.note(safe`Waiting for a client on standard input (Ctrl-C to stop)`)
  return servePlayback(playback, { input: io.stdin, output: io.stdout.stream, signal })
}

async function compareWith(invocation: Invocation, transcript: Transcript, options: ReplayOptions): Promise<ExitName> {
  const { screen } = invocation
  const { target } = parseTarget(typeof options.against === 'string' ? [options.against] : [], invocation.after)
  const { exchanges: all, leftOut } = await withDirect(invocation, target, options, async (direct) =>
    withClient(
      invocation,
      direct,
      (client) =>
        replayTranscript(transcript, client, {
          signal: invocation.signal,
          withCalls: options.calls,
          onReplayed: (replayed) => {
            if (!screen.isJson) printCompared(invocation, replayed)
          },
        }),
      { answer: await personalAnswers(invocation, direct.title) },
    ),
  )
  const changed = all.filter(({ differences }) => differences.length > 0)
  const shown = changed.map(({ method, params, differences }) => ({ method, params, differences }))
  if (screen.isJson) screen.printJson({ asked: all.length, leftOut, changed: shown })
  else screen.note(safe`${counted(all.length, 'request')} sent, ${counted(changed.length, 'answer')} changed, ${leftOut} skipped`)
  return changed.length === 0 ? 'ok' : 'different'
}

function printCompared({ screen }: Invocation, { method, params, differences: found }: ReplayedExchange): void {
  const { style } = screen
  const name = typeof params.name === 'string' ? params.name : typeof params.uri === 'string' ? params.uri : ''
  screen.print(safe`${found.length === 0 ? style.green('=') : style.yellow('≠')} ${method} ${name}`)
  for (const { pointer, before, after } of found) {
    screen.print(safe`  ${style.dim(pointer)}`)
    if (before !== undefined) screen.print(safe`    ${style.red(`- ${jsonText(before)}`)}`)
    if (after !== undefined) screen.print(safe`    ${style.green(`+ ${jsonText(after)}`)}`)
  }
}
