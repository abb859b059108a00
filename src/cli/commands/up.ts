/** `portico` without a command: the host with sample servers, its console in the browser, and a prompt where there is a terminal. */

import { join } from 'node:path'
import type { Command } from 'commander'
import { type Console, consoleAsker, consoleFeed } from '../../console/index.ts'
import { Conversation, type Host } from '../../host/index.ts'
import { chosenModel, MODEL_HELP } from '../chat/model-by-name.ts'
import { storeConversation } from '../chat/stored.ts'
import { isScripted } from '../chat/turn.ts'
import type { CommandRunner, Commands, Invocation } from '../command-runner.ts'
import { auditRetention, type RetentionOptions } from '../connections/audit-retention.ts'
import { withHost } from '../connections/open-host.ts'
import { bundledSamples } from '../demo/embedded.ts'
import { UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { ShellHistory } from '../shell/history.ts'
import { readCommands } from '../shell/session-commands.ts'
import { Shell } from '../shell/shell.ts'
import { canOpenBrowser } from '../up/can-open-browser.ts'
import { openConsole, portNumber } from '../up/open-console.ts'
import { announceConsole, runningConsole } from '../up/running-console.ts'
import { SampleServers } from '../up/sample-servers.ts'
import { welcome } from '../up/welcome.ts'

interface UpOptions extends RetentionOptions {
  model?: string
  baseUrl?: string
  port?: string
  open: boolean
  console: boolean
}

export function registerUp(program: Command, runner: CommandRunner): void {
  program
    .command('up')
    .summary('run the host with its console (the default command)')
    .description(
      'Starts the host with your servers and two sample servers (notes, deploy), and serves its console: a page for your browser, on this\n' +
        'computer only. In a terminal it takes commands as well. Without a terminal it runs until it is stopped.',
    )
    .option('-m, --model <name>', MODEL_HELP)
    .option('--base-url <url>', 'base URL of the model API')
    .option('-p, --port <number>', 'port of the console (default: a free one)')
    .option('--no-open', 'do not open a browser')
    .option('--no-console', 'serve no console: take commands in the terminal only')
    .option('--audit-max-age <time>', 'keep the audit log for this time, such as 30d (default: for ever)')
    .option('--audit-max-size <size>', 'keep this much of the audit log, such as 500MB')
    .option('--audit-archive <folder>', 'move old parts of the audit log to this folder, instead of removing them')
    .action(runner.action((invocation: Invocation, options: UpOptions) => upAction(invocation, options, runner.commands)))
}

async function upAction(started: Invocation, options: UpOptions, commands: Commands): Promise<ExitName> {
  const invocation: Invocation = { ...started, io: { ...started.io, isShell: isInteractive(started.io) } }
  const { io } = invocation
  if (!options.console && !isInteractive(io))
    throw new UsageError('--no-console needs a terminal: without one there would be nothing to use', 'For a check that ends: portico demo')
  const port = options.port === undefined ? undefined : portNumber(options.port)
  const models = await chosenModel(io, options.model, options.baseUrl)
  const retention = auditRetention(io, options)
  const parts = options.console ? { asker: consoleAsker(), feed: consoleFeed() } : undefined
  // The page and the prompt come first: servers start in the background.
  const how = {
    ...(await bundledSamples(io)),
    waits: false,
    ...(parts && { console: parts }),
    options: { ...models, ...(retention && { auditRetention: retention }) },
  }
  return withHost(invocation, how, async (host) => {
    const servers = new SampleServers(invocation, host)
    await servers.follow()
    const console = parts && (await openConsole(invocation, host, { parts, servers, port }))
    try {
      await use(invocation, host, { console, servers, commands, mayOpen: options.open })
    } finally {
      await console?.close()
      await servers.close()
    }
    // A signal is how a person or a system stops it: not a failure.
    return 'ok' as const
  })
}

interface InUse {
  console: Console | undefined
  servers: SampleServers
  commands: Commands
  mayOpen: boolean
}

async function use(invocation: Invocation, host: Host, { console, servers, commands, mayOpen }: InUse): Promise<void> {
  const { io, signal } = invocation
  const other = await runningConsole(host.folder, 'who')
  const withdraw = console && (await announceConsole(host.folder, console))
  try {
    const isOpening = console !== undefined && mayOpen && canOpenBrowser(io) && (await isOpened(console.link()))
    const model = isScripted(host) ? undefined : host.models[0]?.label
    const { configured, samples } = servers
    const show = (): void => welcome(invocation, { configured, samples, model, link: console?.link(), isOpening, other })
    if (isInteractive(io)) await converse(invocation, host, { console, servers, commands, show })
    else {
      show()
      await stopped(signal)
    }
  } finally {
    await withdraw?.()
  }
}

/** Whether a browser was started. The link is always printed as well. */
async function isOpened(link: string): Promise<boolean> {
  const { openBrowser } = await import('../../auth/index.ts')
  return openBrowser(link).then(
    () => true,
    () => false,
  )
}

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

interface Talk extends Omit<InUse, 'mayOpen'> {
  /** Prints the welcome. */
  show(): void
}

async function converse(invocation: Invocation, host: Host, { console, servers, commands, show }: Talk): Promise<void> {
  const { io, screen } = invocation
  const conversation = new Conversation()
  const history = await ShellHistory.open(join(host.folder, 'shell-history.json'), (text) =>
    screen.note(safe`${screen.noteStyle.yellow('!')} ${text}`),
  )
  const shell = new Shell({
    host,
    conversation,
    commands,
    reload: () => servers.reload(),
    addRogue: () => servers.addRogue(),
    link: () => console?.link(),
    // The script knows nothing worth continuing.
    onTurn: async () => void (isScripted(host) || (await storeConversation(screen, host, conversation))),
  })
  show()
  try {
    const run = async (step: Invocation, line: string): Promise<void> => {
      await servers.refresh()
      await shell.run(step, line)
    }
    await readCommands(invocation, run, { history, complete: (line) => shell.complete({ io }, line) })
  } finally {
    await history.saved()
    await host.endConversation(conversation)
  }
}
