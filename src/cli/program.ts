/** The list of commands, each loaded when it is used. */

import { Command } from 'commander'
import { visibleText } from '../base/text/visible-text.ts'
import { typedText } from './command-name.ts'
import type { CommandRunner } from './command-runner.ts'
import type { Io } from './io.ts'
import { fitted } from './output/fitted.ts'
import { columnsOf } from './output/screen.ts'
import { wantsColour } from './output/style.ts'
import { VERSION } from './version.ts'

type Register = (program: Command, runner: CommandRunner) => void

/** In the order of the help, by group. Loaded on demand: `--version` must not load the host. */
const COMMANDS = {
  up: { group: 'Try', load: async () => (await import('./commands/up.ts')).registerUp },
  console: { group: 'Try', load: async () => (await import('./commands/console.ts')).registerConsole },
  demo: { group: 'Try', load: async () => (await import('./commands/demo.ts')).registerDemo },
  run: { group: 'Try', load: async () => (await import('./commands/run.ts')).registerRun },
  servers: { group: 'Servers', load: async () => (await import('./commands/servers.ts')).registerServers },
  doctor: { group: 'Servers', load: async () => (await import('./commands/doctor.ts')).registerDoctor },
  secrets: { group: 'Servers', load: async () => (await import('./commands/secrets.ts')).registerSecrets },
  chat: { group: 'Use', load: async () => (await import('./commands/chat.ts')).registerChat },
  tools: { group: 'Use', load: async () => (await import('./commands/tools.ts')).registerTools },
  call: { group: 'Use', load: async () => (await import('./commands/call.ts')).registerCall },
  tasks: { group: 'Use', load: async () => (await import('./commands/tasks.ts')).registerTasks },
  resources: { group: 'Use', load: async () => (await import('./commands/resources.ts')).registerResources },
  read: { group: 'Use', load: async () => (await import('./commands/resources.ts')).registerRead },
  prompts: { group: 'Use', load: async () => (await import('./commands/prompts.ts')).registerPrompts },
  get: { group: 'Use', load: async () => (await import('./commands/prompts.ts')).registerGet },
  skills: { group: 'Use', load: async () => (await import('./commands/skills.ts')).registerSkills },
  dev: { group: 'Author', load: async () => (await import('./commands/dev.ts')).registerDev },
  serve: { group: 'Author', load: async () => (await import('./commands/serve.ts')).registerServe },
  install: { group: 'Author', load: async () => (await import('./commands/install.ts')).registerInstall },
  uninstall: { group: 'Author', load: async () => (await import('./commands/install.ts')).registerUninstall },
  generate: { group: 'Author', load: async () => (await import('./commands/generate.ts')).registerGenerate },
  migrate: { group: 'Author', load: async () => (await import('./commands/migrate.ts')).registerMigrate },
  inspect: { group: 'Author', load: async () => (await import('./commands/inspect.ts')).registerInspect },
  record: { group: 'Author', load: async () => (await import('./commands/record.ts')).registerRecord },
  replay: { group: 'Author', load: async () => (await import('./commands/replay.ts')).registerReplay },
  policy: { group: 'Safety', load: async () => (await import('./commands/policy.ts')).registerPolicy },
  pins: { group: 'Safety', load: async () => (await import('./commands/pins.ts')).registerPins },
  grants: { group: 'Safety', load: async () => (await import('./commands/grants.ts')).registerGrants },
  audit: { group: 'Safety', load: async () => (await import('./commands/audit.ts')).registerAudit },
  inbox: { group: 'Safety', load: async () => (await import('./commands/inbox.ts')).registerInbox },
  completion: { group: 'Other', load: async () => (await import('./commands/completion.ts')).registerCompletion },
} as const satisfies Record<string, { group: string; load: () => Promise<Register> }>

const EXAMPLES = `
Examples:
  portico up                                         the host, with samples and a page in your browser (also without "up")
  portico run -- npx -y some-server ~/docs           try a server
  portico servers add docs -- npx -y some-server     add it
  portico call docs/search query=door                call a tool of it
  portico doctor docs                                find out why it does not work
  portico dev ./server.ts                            write a server of your own
  portico install ./server.ts --client cursor        put it into another client

SERVER is a URL, the name of a configured server, or a command after --.
"portico help COMMAND" describes a command, "portico help exit-codes" the exit codes.`

export const isCommand = (word: string | undefined): word is keyof typeof COMMANDS => word !== undefined && Object.hasOwn(COMMANDS, word)

/** Help, completion and suggestions for a mistyped command need all commands. */
function commandsFor([first]: readonly string[]): readonly (typeof COMMANDS)[keyof typeof COMMANDS][] {
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
      // The help has examples.
      writeOut: (text) => void io.stdout.stream.write(fitted(typedText(io, text), columnsOf(io.stdout))),
      // Error messages quote what was typed, which may contain control characters.
      writeErr: (text) => void io.stderr.stream.write(fitted(visibleText(typedText(io, text), { multiline: true }), columnsOf(io.stderr))),
      // Like the errors of the commands themselves.
      outputError: (text, write) => write(text.replace(/^error: (.)/, (_whole, first: string) => `✗ ${first.toUpperCase()}`)),
      getOutHelpWidth: () => columnsOf(io.stdout) ?? 100,
      getErrHelpWidth: () => columnsOf(io.stderr) ?? 100,
      getOutHasColors: () => wantsColour(io, io.stdout),
      getErrHasColors: () => wantsColour(io, io.stderr),
    })
    .showHelpAfterError('Run "portico help" for a list of commands.')
    .addHelpText('after', EXAMPLES)
  for (const { group, load } of commandsFor(words)) {
    program.commandsGroup(`${group}:`)
    const register: Register = await load()
    register(program, runner)
  }
  // The help command belongs to the last group, too.
  program.helpCommand('help [command]', 'describe a command')
  return program
}
