/** `portico replay`: serves a recording, or compares a server with it. */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { isObject } from '../../base/json.ts'
import { type Client, RemoteError } from '../../client/index.ts'
import { Playback, servePlayback } from '../../testing/index.ts'
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
import { type Difference, differences } from '../transcript/difference.ts'
import { readTranscript, type Transcript, withoutSecrets } from '../transcript/transcript.ts'

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

type Params = Record<string, unknown>

interface Compared {
  method: string
  params: unknown
  differences: Difference[]
}

async function compareWith(invocation: Invocation, transcript: Transcript, options: ReplayOptions): Promise<ExitName> {
  const { screen } = invocation
  const { target } = parseTarget(typeof options.against === 'string' ? [options.against] : [], invocation.after)
  const asked = askedIn(transcript, options.calls)
  const all = await withDirect(invocation, target, options, async (direct) =>
    withClient(
      invocation,
      direct,
      async (client) => {
        const compared: Compared[] = []
        for (const { method, params, answer } of asked.again) {
          const now = await answerOf(client, method, params, invocation.signal)
          const found = differences(withoutNoise(answer), withoutNoise(withoutSecrets(now)))
          compared.push({ method, params, differences: found })
          if (!screen.isJson) printCompared(invocation, method, params, found)
        }
        return compared
      },
      { answer: await personalAnswers(invocation, direct.title) },
    ),
  )
  const changed = all.filter(({ differences: found }) => found.length > 0)
  if (screen.isJson) screen.printJson({ asked: all.length, leftOut: asked.leftOut, changed })
  else screen.note(safe`${counted(all.length, 'request')} sent, ${counted(changed.length, 'answer')} changed, ${asked.leftOut} skipped`)
  return changed.length === 0 ? 'ok' : 'different'
}

interface Asked {
  method: string
  params: Params
  /** `{ result }` or `{ error }`. */
  answer: Params
}

const isRequestId = (id: unknown): boolean => typeof id === 'string' || typeof id === 'number'

/** The handshake is the client's own; subscriptions and requests with server state cannot be repeated. */
const NOT_AGAIN = new Set(['initialize', 'server/discover', 'ping', 'subscriptions/listen', 'resources/subscribe', 'resources/unsubscribe'])

function askedIn({ messages }: Transcript, withCalls: boolean): { again: Asked[]; leftOut: number } {
  const again: Asked[] = []
  let leftOut = 0
  for (const { from, message } of messages) {
    if (from !== 'client' || !isObject(message) || typeof message.method !== 'string' || !isRequestId(message.id)) continue
    const answer = messages.find(
      (each) => each.from === 'server' && isObject(each.message) && each.message.id === message.id && each.message.method === undefined,
    )
    const { _meta: _, ...params }: Params = isObject(message.params) ? message.params : {}
    const result = isObject(answer?.message) ? answer.message : undefined
    const isRound = params.requestState !== undefined || (isObject(result?.result) && result.result.resultType === 'input_required')
    if (!result || NOT_AGAIN.has(message.method) || isRound || (!withCalls && message.method === 'tools/call')) leftOut += 1
    else again.push({ method: message.method, params, answer: result })
  }
  return { again, leftOut }
}

async function answerOf(client: Client, method: string, params: Params, signal: AbortSignal): Promise<Params> {
  try {
    return { result: await client.request(method, params, { signal }) }
  } catch (error) {
    if (error instanceof RemoteError)
      return { error: { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) } }
    throw error
  }
}

/** Ids, metadata and cache times are not compared. */
function withoutNoise(answer: unknown): unknown {
  if (!isObject(answer)) return answer
  const { result, error } = answer
  if (!isObject(result)) return { error }
  const { _meta: _, ttlMs: _ttl, cacheScope: _scope, resultType: _type, ...rest } = result
  return { result: rest }
}

function printCompared({ screen }: Invocation, method: string, params: Params, found: readonly Difference[]): void {
  const { style } = screen
  const name = typeof params.name === 'string' ? params.name : typeof params.uri === 'string' ? params.uri : ''
  screen.print(safe`${found.length === 0 ? style.green('=') : style.yellow('≠')} ${method} ${name}`)
  for (const { pointer, before, after } of found) {
    screen.print(safe`  ${style.dim(pointer)}`)
    if (before !== undefined) screen.print(safe`    ${style.red(`- ${jsonText(before)}`)}`)
    if (after !== undefined) screen.print(safe`    ${style.green(`+ ${jsonText(after)}`)}`)
  }
}
