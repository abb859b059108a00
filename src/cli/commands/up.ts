/** `portico` without a command: the host in a terminal, with sample servers. Without a terminal: the demo. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Host } from '../../host/index.ts'
import { Conversation } from '../../host/index.ts'
import { MODEL_HELP, modelNamed } from '../chat/models.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { hostFolderOf } from '../connections/host-files.ts'
import { withHost } from '../connections/open-host.ts'
import { embeddedRules, startEmbedded } from '../demo/embedded.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { runHostCommand } from '../shell/host-commands.ts'
import { readCommands } from '../shell/session-commands.ts'
import { demo } from './demo.ts'

interface UpOptions {
  model: string
  baseUrl?: string
}

export function registerUp(program: Command, runner: CommandRunner): void {
  program
    .command('up')
    .summary('run the host in this terminal (the default command)')
    .description(
      'Starts the host with your servers and three sample servers (notes, deploy, rogue), and takes commands. Without a terminal, runs the demo.',
    )
    .option('-m, --model <name>', MODEL_HELP, 'scripted')
    .option('--base-url <url>', 'base URL of the model API')
    .action(runner.action(upAction))
}

async function upAction(invocation: Invocation, options: UpOptions): Promise<ExitName> {
  const { io, screen } = invocation
  if (!isInteractive(io)) return demo(invocation)
  const model = await modelNamed(io, options.model, options.baseUrl)
  const notesFolder = join(hostFolderOf(io), 'embedded-notes')
  await mkdir(notesFolder, { recursive: true, mode: 0o700 })
  const embedded = await startEmbedded({ notesFolder })
  try {
    welcome(screen, model.label, hostFolderOf(io))
    return await withHost(invocation, { extra: embedded.servers, rulesForExtra: embeddedRules, options: { model } }, (host) =>
      converse(invocation, host),
    )
  } finally {
    await embedded.close()
  }
}

function welcome(screen: Screen, model: string, folder: string): void {
  const { bold, dim } = screen.noteStyle
  screen.note(safe`${bold('Portico: many MCP servers, one policy, your approval first')}`)
  screen.note(safe`${dim('servers')}  yours, and three samples on this computer: notes, deploy, rogue`)
  screen.note(safe`${dim('model')}    ${model}`)
  screen.note(safe`${dim('data')}     ${folder}`)
  screen.note(safe`${dim('consent')}  your own servers and "rogue" need your approval before first use`)
  screen.note(safe`${dim('keys')}     arrows, Enter, Esc for no; Ctrl-C stops a call; q or Ctrl-D quits`)
}

async function converse(invocation: Invocation, host: Host): Promise<ExitName> {
  const { screen } = invocation
  const conversation = new Conversation()
  screen.note(safe`\n${ready(host)}`)
  screen.note(safe`${screen.noteStyle.dim('Try: help · tools · add a note title="Milk" text="2 l" · deploy api 1.4.0 to staging')}`)
  try {
    return await readCommands(invocation, (step, line) => runHostCommand(step, host, conversation, line))
  } finally {
    await host.endConversation(conversation)
  }
}

function ready(host: Host): string {
  const states = Object.values(host.health()).map(({ state }) => state)
  return `${states.filter((state) => state === 'ready').length} of ${counted(states.length, 'server')} ready, ${counted(host.tools().length, 'tool')}.`
}
