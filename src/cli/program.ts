/** The list of commands, each loaded when it is used. */

import { Command } from 'commander'
import { visibleText } from '../base/text/visible-text.ts'
import type { CommandRunner } from './command-runner.ts'
import type { Io } from './io.ts'
import { columnsOf } from './output/screen.ts'
import { wantsColour } from './output/style.ts'
import { VERSION } from './version.ts'

type Register = (program: Command, runner: CommandRunner) => void

/** In the order of the help. Loaded on demand: `--version` must not load the host. */
const COMMANDS = {
  tools: async () => (await import('./commands/tools.ts')).registerTools,
  call: async () => (await import('./commands/call.ts')).registerCall,
  resources: async () => (await import('./commands/resources.ts')).registerResources,
  read: async () => (await import('./commands/resources.ts')).registerRead,
  prompts: async () => (await import('./commands/prompts.ts')).registerPrompts,
  get: async () => (await import('./commands/prompts.ts')).registerGet,
  run: async () => (await import('./commands/run.ts')).registerRun,
  inspect: async () => (await import('./commands/inspect.ts')).registerInspect,
  doctor: async () => (await import('./commands/doctor.ts')).registerDoctor,
  record: async () => (await import('./commands/record.ts')).registerRecord,
  replay: async () => (await import('./commands/replay.ts')).registerReplay,
  dev: async () => (await import('./commands/dev.ts')).registerDev,
  install: async () => (await import('./commands/install.ts')).registerInstall,
  uninstall: async () => (await import('./commands/install.ts')).registerUninstall,
  serve: async () => (await import('./commands/serve.ts')).registerServe,
  demo: async () => (await import('./commands/demo.ts')).registerDemo,
  up: async () => (await import('./commands/up.ts')).registerUp,
  chat: async () => (await import('./commands/chat.ts')).registerChat,
  servers: async () => (await import('./commands/servers.ts')).registerServers,
  policy: async () => (await import('./commands/policy.ts')).registerPolicy,
  pins: async () => (await import('./commands/pins.ts')).registerPins,
  grants: async () => (await import('./commands/grants.ts')).registerGrants,
  audit: async () => (await import('./commands/audit.ts')).registerAudit,
  secrets: async () => (await import('./commands/secrets.ts')).registerSecrets,
  inbox: async () => (await import('./commands/inbox.ts')).registerInbox,
  completion: async () => (await import('./commands/completion.ts')).registerCompletion,
} as const satisfies Record<string, () => Promise<Register>>

export const isCommand = (word: string | undefined): word is keyof typeof COMMANDS => word !== undefined && Object.hasOwn(COMMANDS, word)

/** Help, completion and suggestions for a mistyped command need all commands. */
function loadersFor([first]: readonly string[]): readonly (() => Promise<Register>)[] {
  if (isCommand(first)) return [COMMANDS[first]]
  return first === '--version' || first === '-V' ? [] : Object.values(COMMANDS)
}

/** @param words the command line; when it names a command, only that one is loaded */
export async function programFor(words: readonly string[], runner: CommandRunner, io: Io): Promise<Command> {
  const program = new Command('portico')
  program
    .description('Use MCP servers from the terminal, under one policy.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.stream.write(text),
      // Error messages quote what was typed, which may contain control characters.
      writeErr: (text) => void io.stderr.stream.write(visibleText(text, { multiline: true })),
      getOutHelpWidth: () => columnsOf(io.stdout) ?? 100,
      getErrHelpWidth: () => columnsOf(io.stderr) ?? 100,
      getOutHasColors: () => wantsColour(io, io.stdout),
      getErrHasColors: () => wantsColour(io, io.stderr),
    })
    .showHelpAfterError('Run "portico help" for a list of commands.')
    .addHelpText(
      'after',
      '\nSERVER is a URL, the name of a configured server, or a command after --.\n\n"portico help COMMAND" describes a command, "portico help exit-codes" the exit codes.',
    )
  for (const load of loadersFor(words)) (await load())(program, runner)
  return program
}
