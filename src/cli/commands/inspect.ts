/** `portico inspect`: prints every message of both sides, with times. */

import { type Command, InvalidArgumentError } from 'commander'
import { isObject } from '../../base/json.ts'
import { redact } from '../../base/text/redact.ts'
import { Client } from '../../client/index.ts'
import { type TappedMessage, tapTarget } from '../../testing/index.ts'
import { parseJson } from '../arguments/assignment.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { connectOptions, targetFor } from '../connections/connect.ts'
import { withDirect } from '../connections/direct.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { parseTarget } from '../connections/target.ts'
import { UsageError } from '../errors.ts'
import { jsonText } from '../output/json.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { personalAnswers } from '../terminal/answers.ts'

interface InspectOptions extends TargetOptions {
  request?: string
  params?: Record<string, unknown>
  showSecrets?: true
}

/** Requested by default. */
const LISTS = ['tools', 'resources', 'prompts'] as const

export function registerInspect(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('inspect')
      .summary('show the raw messages exchanged with a server')
      .description('Connects, lists what the server offers (or sends one request), and shows every message of both sides with its time.')
      .argument('[server]')
      .usage('[options] <url> | <name> | -- command...'),
  )
    .option('-r, --request <method>', 'send this request instead of listing, such as tools/call')
    .option('-p, --params <json>', 'parameters of the request', toParams)
    .option('--show-secrets', 'do not hide values that look like secrets')
    .option('--json', 'write one JSON object per message')
    .action(runner.action(inspectAction, { takesCommand: true }))
}

function toParams(text: string): Record<string, unknown> {
  try {
    const params = parseJson('params', text)
    if (isObject(params)) return params
  } catch {
    // Reported below, like JSON that is not an object.
  }
  throw new InvalidArgumentError('Expected a JSON object.')
}

async function inspectAction(invocation: Invocation, server: string | undefined, options: InspectOptions): Promise<void> {
  if (options.params !== undefined && options.request === undefined) throw new UsageError('--params needs --request')
  const { target } = parseTarget(server === undefined ? [] : [server], invocation.after)
  const { screen, signal } = invocation
  const exchange = new Exchange(screen, options.showSecrets === true)
  await withDirect(invocation, target, options, async (direct) => {
    const reached = tapTarget(await targetFor(invocation, direct), (passed) => exchange.show(passed))
    const answer = await personalAnswers(invocation, direct.title)
    const client = await Client.connect(reached, { ...connectOptions(invocation, options), answer })
    try {
      if (options.request !== undefined) await client.request(options.request, options.params ?? {}, { signal })
      else for (const list of LISTS) if (client.server.capabilities[list]) await client[list]({ signal }).all()
    } finally {
      await client.close()
    }
  })
}

/** Shows messages one by one, and the time to each answer. */
class Exchange {
  readonly #screen: Screen
  readonly #showsSecrets: boolean
  /** The times when requests were sent, by side and id. Its size is limited by the open requests of both sides. */
  readonly #sent = new Map<string, { method: string; atMs: number }>()

  constructor(screen: Screen, showsSecrets: boolean) {
    this.#screen = screen
    this.#showsSecrets = showsSecrets
  }

  show({ from, message, atMs }: TappedMessage): void {
    const tookMs = this.#match(from, message, atMs)
    const shown = this.#showsSecrets ? message : redact(message)
    if (this.#screen.isJson)
      return this.#screen.printJsonLine({
        from,
        atMs: round(atMs),
        ...(tookMs !== undefined && { tookMs: round(tookMs.ms) }),
        message: shown,
      })
    const { style } = this.#screen
    const arrow = from === 'client' ? style.cyan('→') : style.magenta('←')
    const took = tookMs === undefined ? '' : style.dim(` ${tookMs.method} took ${round(tookMs.ms)} ms`)
    this.#screen.print(safe`${arrow} ${style.dim(`${round(atMs)} ms`)}${took}`)
    this.#screen.printWhole(untrustedLines(jsonText(shown, 2)).indented(2))
  }

  #match(from: TappedMessage['from'], message: unknown, atMs: number): { method: string; ms: number } | undefined {
    if (!isObject(message) || message.id === undefined) return undefined
    if (typeof message.method === 'string') {
      this.#sent.set(`${from} ${JSON.stringify(message.id)}`, { method: message.method, atMs })
      return undefined
    }
    const key = `${from === 'client' ? 'server' : 'client'} ${JSON.stringify(message.id)}`
    const sent = this.#sent.get(key)
    this.#sent.delete(key)
    return sent && { method: sent.method, ms: atMs - sent.atMs }
  }
}

const round = (ms: number): number => Math.round(ms * 10) / 10
