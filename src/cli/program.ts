/** Every command, its options and its help. */

import { Command } from 'commander'
import { visibleText } from '../protocol/visible-text.ts'
import { registerAudit } from './commands/audit.ts'
import { registerCall } from './commands/call.ts'
import { registerChat } from './commands/chat.ts'
import { registerCompletion } from './commands/completion.ts'
import { registerDemo } from './commands/demo.ts'
import { registerDoctor } from './commands/doctor.ts'
import { registerGrants } from './commands/grants.ts'
import { registerInbox } from './commands/inbox.ts'
import { registerInspect } from './commands/inspect.ts'
import { registerPins } from './commands/pins.ts'
import { registerPolicy } from './commands/policy.ts'
import { registerGet, registerPrompts } from './commands/prompts.ts'
import { registerRecord } from './commands/record.ts'
import { registerReplay } from './commands/replay.ts'
import { registerRead, registerResources } from './commands/resources.ts'
import { registerRun } from './commands/run.ts'
import { registerSecrets } from './commands/secrets.ts'
import { registerServe } from './commands/serve.ts'
import { registerServers } from './commands/servers.ts'
import { registerTools } from './commands/tools.ts'
import { registerUp } from './commands/up.ts'
import { EXIT_CODES } from './exit-codes.ts'
import type { Frame } from './frame.ts'
import type { Io } from './io.ts'
import { columnsOf } from './output/screen.ts'
import { wantsColour } from './output/style.ts'
import { VERSION } from './version.ts'

const REGISTRATIONS = [
  registerTools,
  registerCall,
  registerResources,
  registerRead,
  registerPrompts,
  registerGet,
  registerRun,
  registerInspect,
  registerDoctor,
  registerRecord,
  registerReplay,
  registerServe,
  registerDemo,
  registerUp,
  registerChat,
  registerServers,
  registerPolicy,
  registerPins,
  registerGrants,
  registerAudit,
  registerSecrets,
  registerInbox,
  registerCompletion,
]

export function programFor(frame: Frame, io: Io): Command {
  const program = new Command('portico')
  program
    .description('Servers of the Model Context Protocol: many of them, one policy, nothing without consent.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.stream.write(text),
      // Mistakes quote what was typed.
      writeErr: (text) => void io.stderr.stream.write(visibleText(text, { multiline: true })),
      getOutHelpWidth: () => columnsOf(io.stdout) ?? 100,
      getErrHelpWidth: () => columnsOf(io.stderr) ?? 100,
      getOutHasColors: () => wantsColour(io, io.stdout),
      getErrHasColors: () => wantsColour(io, io.stderr),
    })
    .showHelpAfterError('(portico help shows what there is)')
    .addHelpText('after', exitCodeHelp)
  for (const register of REGISTRATIONS) register(program, frame)
  return program
}

const exitCodeHelp = (): string => {
  const rows = Object.values(EXIT_CODES).map(({ code, when }) => `  ${String(code).padStart(3)}  ${when}`)
  return `\nA SERVER is a URL, the name of a configured server, or after -- a command.\n\nExit codes:\n${rows.join('\n')}`
}
