/** `portico` without a command: the host in a terminal, with sample servers. Without a terminal: the demo. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { Conversation, type Host, type ServerSpec } from '../../host/index.ts'
import { MODEL_HELP, modelNamed } from '../chat/model-by-name.ts'
import { storeConversation } from '../chat/stored.ts'
import { isScripted } from '../chat/turn.ts'
import type { CommandRunner, Commands, Invocation } from '../command-runner.ts'
import { hostFolderOf } from '../connections/host-files.ts'
import { configuredServers, withHost } from '../connections/open-host.ts'
import { deploySample, notesSample, type RogueSample, sampleRules, startRogue } from '../demo/embedded.ts'
import { runDemo } from '../demo/run-demo.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { safe, untrusted } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { wrapped } from '../output/wrap.ts'
import { ShellHistory } from '../shell/history.ts'
import { readCommands } from '../shell/session-commands.ts'
import { Shell } from '../shell/shell.ts'

interface UpOptions {
  model: string
  baseUrl?: string
}

export function registerUp(program: Command, runner: CommandRunner): void {
  program
    .command('up')
    .summary('run the host in this terminal (the default command)')
    .description(
      'Starts the host with your servers and two sample servers (notes, deploy), and takes commands. Without a terminal, runs the demo.',
    )
    .option('-m, --model <name>', MODEL_HELP, 'scripted')
    .option('--base-url <url>', 'base URL of the model API')
    .action(runner.action((invocation: Invocation, options: UpOptions) => upAction(invocation, options, runner.commands)))
}

async function upAction(started: Invocation, options: UpOptions, commands: Commands): Promise<ExitName> {
  if (!isInteractive(started.io)) return runDemo(started)
  const invocation: Invocation = { ...started, io: { ...started.io, isShell: true } }
  const { io } = invocation
  const model = await modelNamed(io, options.model, options.baseUrl)
  const notesFolder = join(hostFolderOf(io), 'embedded-notes')
  await mkdir(notesFolder, { recursive: true, mode: 0o700 })
  const extra = { notes: notesSample(notesFolder), deploy: deploySample() }
  // The prompt comes first: servers start in the background.
  return withHost(invocation, { extra, rulesForExtra: sampleRules, waits: false, options: { model } }, (host) =>
    converse(invocation, host, commands),
  )
}

async function converse(invocation: Invocation, host: Host, commands: Commands): Promise<ExitName> {
  const { io, screen } = invocation
  const conversation = new Conversation()
  const servers = new ShellServers(invocation, host)
  const history = await ShellHistory.open(join(host.folder, 'shell-history.json'), (text) =>
    screen.note(safe`${screen.noteStyle.yellow('!')} ${wrapped(text, { columns: screen.noteColumns, indent: 2 })}`),
  )
  const shell = new Shell({
    host,
    conversation,
    commands,
    reload: () => servers.reload(),
    addRogue: () => servers.addRogue(),
    // The script knows nothing worth continuing.
    onTurn: async () => void (isScripted(host) || (await storeConversation(screen, host, conversation))),
  })
  welcome(screen, servers, isScripted(host) ? undefined : host.models[0]?.label)
  try {
    return await readCommands(invocation, (step, line) => shell.run(step, line), {
      history,
      complete: (line) => shell.complete({ io }, line),
    })
  } finally {
    await history.saved()
    await host.endConversation(conversation)
    await servers.close()
  }
}

/** The servers of the shell: samples, the rogue on request, and the configured ones. */
class ShellServers {
  readonly #invocation: Invocation
  readonly #host: Host
  readonly #samples: readonly ServerSpec[]
  #rogue: RogueSample | undefined

  constructor(invocation: Invocation, host: Host) {
    this.#invocation = invocation
    this.#host = host
    this.#samples = host.specs().filter(isSample)
  }

  get samples(): readonly string[] {
    return this.#samples.map(({ id }) => id)
  }

  get configured(): readonly string[] {
    return this.#host.specs().flatMap((spec) => (isSample(spec) ? [] : [spec.id]))
  }

  /** A configured server replaces a sample of the same name. */
  async reload(): Promise<void> {
    const configured = await configuredServers(this.#invocation)
    const samples = [...this.#samples, ...(this.#rogue ? [this.#rogue.spec] : [])]
    await this.#host.configure([...samples.filter(({ id }) => !configured.some((each) => each.id === id)), ...configured])
  }

  async addRogue(): Promise<string> {
    this.#rogue ??= await startRogue()
    if (this.#rogue.isElsewhere)
      this.#invocation.screen.note(safe`The port of rogue is in use, so it has a new address, and you are asked about it again.`)
    await this.reload()
    return this.#rogue.spec.id
  }

  async close(): Promise<void> {
    await this.#rogue?.close()
  }
}

/** Samples come from no file. */
const isSample = ({ provenance }: ServerSpec): boolean => provenance.some(({ client, file }) => client === 'Portico' && file === '')

function welcome(screen: Screen, { samples, configured }: Pick<ShellServers, 'samples' | 'configured'>, model: string | undefined): void {
  const { bold, dim, cyan } = screen.noteStyle
  const yours = configured.length === 0 ? 'none yet' : configured.length > MAX_NAMED ? `${configured.length}` : configured.join(', ')
  const about = `Your servers: ${yours}. Samples: ${samples.join(', ')}. Model: ${model ?? 'none'}.`
  screen.note(bold('Portico: many MCP servers, one policy, your approval first'))
  screen.note(dim(untrusted(about).cut(screen.noteColumns ?? about.length)))
  screen.note(safe`Type ${cyan('tour')} for a guided tour (2 minutes), ${cyan('help')} for commands, ${cyan('q')} to quit.`)
}

const MAX_NAMED = 3
