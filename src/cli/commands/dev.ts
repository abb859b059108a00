/** `portico dev`: runs a server while you write it. It starts again after each change, with commands beside it. */

import { dirname, relative } from 'node:path'
import type { Command } from 'commander'
import { onAbort } from '../../base/on-abort.ts'
import { Client, type Target } from '../../client/index.ts'
import { watchSources } from '../../files/watch-sources.ts'
import { countOffering } from '../../host/index.ts'
import { processTarget } from '../../stdio/index.ts'
import { modulePath } from '../authoring/server-module.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { connectOptions, warningPrinter } from '../connections/connect.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { clientSession, type Session } from '../connections/session.ts'
import { explainError, UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { programPath } from '../program-path.ts'
import { printCommands, readCommands, runSessionCommand, SESSION_COMMANDS } from '../shell/session-commands.ts'
import { splitWords } from '../split-words.ts'
import { personalAnswers } from '../terminal/answers.ts'

export function registerDev(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('dev')
      .summary('run your server while you write it, with commands beside it')
      .description(
        'Starts the server that a module exports, and starts it again after each change of a source file in its folder.\n' +
          'In a terminal it takes commands: call a tool, repeat the last call with "again", list what the server offers.',
      )
      .argument('<file>', 'the module that exports the server, such as ./server.ts')
      .usage('[options] <file>')
      .addHelpText('after', '\nExample:\n  portico dev ./server.ts\n  > call greet name=Ada\n  > again'),
  ).action(runner.action(devAction))
}

const COMMANDS: typeof SESSION_COMMANDS = [
  ...SESSION_COMMANDS,
  ['again', 'repeat the last call (also: a)'],
  ['reload', 'start the server again'],
  ['quit', 'leave (also: q, Ctrl-D)'],
]

async function devAction(invocation: Invocation, path: string, options: TargetOptions): Promise<ExitName> {
  const { io, screen, signal } = invocation
  const file = await modulePath(io.cwd, path)
  const dev = new DevServer(invocation, path, file, options)
  const watching = await watchSources(dirname(file), {
    onChange: (changed) => void dev.reload(`${relative(io.cwd, changed)} changed`),
    onWarning: (text) => screen.note(safe`${screen.noteStyle.yellow('!')} ${text}`),
  })
  try {
    await dev.reload(undefined)
    return isInteractive(io) ? await converse(invocation, dev) : await until(signal)
  } finally {
    watching.close()
    await dev.close()
  }
}

/** Without a keyboard it runs until it is stopped. */
const until = (signal: AbortSignal): Promise<ExitName> => new Promise((resolve) => void onAbort(signal, () => resolve('ok')))

async function converse(invocation: Invocation, dev: DevServer): Promise<ExitName> {
  const { screen } = invocation
  screen.note(safe`${screen.noteStyle.dim('Type "help" for a list of commands, "q" to quit.')}`)
  let lastCall: readonly string[] | undefined
  return readCommands(invocation, async (step, line) => {
    const typed = splitWords(line)
    switch (typed[0]) {
      case 'help':
      case '?':
        return printCommands(invocation, COMMANDS)
      case 'reload':
        return dev.reload(undefined)
      case 'a':
      case 'again':
        if (!lastCall) throw new UsageError('There is no call to repeat', 'Call a tool first: call TOOL key=value ...')
        screen.note(safe`${screen.noteStyle.dim(lastCall.join(' '))}`)
        return runSessionCommand(step, await dev.session(), lastCall)
      case 'call':
        lastCall = typed
    }
    if (!(await runSessionCommand(step, await dev.session(), typed)))
      throw new UsageError(`Unknown command ${JSON.stringify(typed[0])}`, 'Type "help" for a list of commands')
  })
}

/** Lines of standard error that are kept while a server starts. */
const MAX_FIRST_WORDS = 200

/** The server as a child process that is replaced after each change. */
class DevServer {
  readonly #invocation: Invocation
  readonly #path: string
  readonly #file: string
  readonly #options: TargetOptions
  /** What the server wrote to its standard error while it started. Undefined when it runs, because lines are then shown at once. */
  #firstWords: string[] | undefined
  #client: Client | undefined
  /** Reloads run one after another. */
  #reloading: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(invocation: Invocation, path: string, file: string, options: TargetOptions) {
    this.#invocation = invocation
    this.#path = path
    this.#file = file
    this.#options = options
  }

  /** Never rejects: an error is shown, and the next change starts the server again. */
  reload(why: string | undefined): Promise<void> {
    this.#reloading = this.#reloading.then(() => this.#replace(why))
    return this.#reloading
  }

  /** The running server. Throws UsageError if it could not be started. */
  async session(): Promise<Session> {
    await this.#reloading
    if (!this.#client || this.#client.isClosed)
      throw new UsageError(`${this.#path} is not running`, 'Correct the error and save the file, or type "reload"')
    return clientSession(this.#client)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#reloading
    await this.#client?.close()
  }

  async #replace(why: string | undefined): Promise<void> {
    if (this.#isClosed) return
    const { screen, signal } = this.#invocation
    if (why !== undefined) screen.note(safe`${screen.noteStyle.dim(`↻ ${why}`)}`)
    const former = this.#client
    this.#client = undefined
    await former?.close()
    try {
      const client = await Client.connect(this.#target(), {
        ...connectOptions(this.#invocation, this.#options),
        answer: await personalAnswers(this.#invocation, this.#path),
      })
      this.#client = client
      this.#showFirstWords()
      const { info } = client.server
      screen.note(
        safe`${screen.noteStyle.green('✓')} ${info.title ?? info.name} ${info.version}: ${await countOffering(client)} ${screen.noteStyle.dim(`(revision ${client.revision})`)}`,
      )
    } catch (error) {
      if (signal.aborted) return
      // The last words of the server say more than the fact that it ended.
      if (!this.#showFirstWords()) screen.note(safe`${screen.noteStyle.red('✗')} ${explainError(error).message}`)
      screen.note(safe`  ${screen.noteStyle.dim('Waiting for the next change ...')}`)
    }
  }

  #target(): Target {
    const { env, cwd = this.#invocation.io.cwd } = this.#options
    const target = processTarget({
      command: process.execPath,
      args: [programPath(), 'serve', this.#file],
      env,
      cwd,
      restarts: false,
      onStderr: (line) => this.#onStderr(line),
      onWarning: warningPrinter(this.#invocation),
    })
    return {
      ...target,
      open: () => {
        // A server that ends at once may be started twice, to try both dialects.
        this.#firstWords = []
        return target.open()
      },
    }
  }

  #onStderr(line: string): void {
    if (!this.#firstWords) this.#show(line)
    else if (this.#firstWords.length < MAX_FIRST_WORDS) this.#firstWords.push(line)
  }

  /** Returns whether there were any lines. */
  #showFirstWords(): boolean {
    const lines = this.#firstWords ?? []
    this.#firstWords = undefined
    for (const line of lines) this.#show(line)
    return lines.length > 0
  }

  #show(line: string): void {
    const { screen } = this.#invocation
    screen.note(safe`${screen.noteStyle.dim('│')} ${line}`)
  }
}
