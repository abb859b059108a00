/** Runs a command: gives it its surroundings, handles Ctrl-C, and turns its end into an exit code. */

import type { Command } from 'commander'
import { asTyped, ownWords } from './command-name.ts'
import { type AskingFacts, explainError, Interrupted, UsageError } from './errors.ts'
import { type ExitName, exitCode } from './exit-codes.ts'
import type { Io } from './io.ts'
import { safe } from './output/safe-text.ts'
import { Screen } from './output/screen.ts'

export interface Invocation {
  io: Io
  screen: Screen
  /** The words after `--`: the command that starts a server. */
  after: readonly string[] | undefined
  /** Aborted by Ctrl-C, with Interrupted as its reason. A second Ctrl-C ends the process. */
  signal: AbortSignal
  /** Runs one step of an interactive command: the first Ctrl-C stops only the step, a second one everything. */
  interruptibleStep<T>(use: (invocation: Invocation) => Promise<T>): Promise<T>
}

/** @returns the exit name. Default: `ok` */
export type CommandBody<Args extends unknown[]> = (invocation: Invocation, ...args: Args) => Promise<ExitName | undefined | void>

export interface ActionOptions {
  /** Whether a command may follow `--`. */
  takesCommand?: boolean
}

/** All commands, for a command that takes command lines itself. */
export interface Commands {
  /** Runs a command line and resolves with its exit code. */
  run(words: readonly string[]): Promise<number>
  /** The commands for a command line. Nothing is run. */
  program(words: readonly string[]): Promise<Command>
}

export class CommandRunner {
  readonly #io: Io
  readonly #after: readonly string[] | undefined
  readonly commands: Commands
  #asking: AskingFacts | undefined
  /** The exit code of the process. */
  exit: number = exitCode('ok')

  constructor(io: Io, after: readonly string[] | undefined, commands: Commands) {
    this.#io = io
    this.#after = after
    this.commands = commands
  }

  /** An action for commander, whose last two arguments are the options and the command. */
  action<Args extends unknown[]>(body: CommandBody<Args>, { takesCommand = false }: ActionOptions = {}) {
    return async (...given: unknown[]): Promise<void> => {
      const command = given.at(-1) as Command
      const isJson = command.optsWithGlobals().json === true
      this.#asking = {
        hasInbox: command.options.some(({ long }) => long === '--inbox'),
        isParking: command.opts().inbox === true,
        isShell: this.#io.isShell === true,
      }
      await this.run(isJson, (invocation) => {
        if (this.#after !== undefined && !takesCommand) throw new UsageError(`"portico ${command.name()}" does not take a command after --`)
        return body(invocation, ...(given.slice(0, -1) as Args))
      })
    }
  }

  async run(isJson: boolean, body: (invocation: Invocation) => Promise<ExitName | undefined | void>): Promise<void> {
    const screen = new Screen(this.#io, { isJson })
    const stop = new AbortController()
    let current: AbortController | undefined
    const stopListening = this.#io.onInterrupt((signal) => {
      const isStep = signal === 'SIGINT' && current !== undefined && !current.signal.aborted
      const stopped = isStep ? (current as AbortController) : stop
      stopped.abort(new Interrupted())
      return isStep ? 'goes-on' : 'ends'
    })
    const invocation: Invocation = {
      io: this.#io,
      screen,
      after: this.#after,
      signal: stop.signal,
      interruptibleStep: async (use) => {
        const outer = current
        const step = new AbortController()
        current = step
        try {
          return await use({ ...invocation, signal: AbortSignal.any([step.signal, stop.signal]) })
        } finally {
          current = outer
        }
      },
    }
    try {
      const exit = await body(invocation)
      this.exit = exitCode(exit ?? 'ok')
    } catch (error) {
      this.fail(stop.signal.aborted && !(error instanceof Interrupted) ? stop.signal.reason : error, screen)
    } finally {
      stopListening()
      screen.clear()
    }
  }

  fail(error: unknown, screen: Screen = new Screen(this.#io)): void {
    const { exit, message, hint, json } = explainError(error, this.#asking)
    this.exit = exitCode(exit)
    if (screen.isJson) screen.printJson(json)
    screen.note(safe`${screen.noteStyle.red(exit === 'interrupted' ? '■' : '✗')} ${ownWords(this.#io, error, message).hanging(2)}`)
    if (hint) screen.note(safe`  ${screen.noteStyle.dim(asTyped(this.#io, hint).hanging(2))}`)
  }
}
