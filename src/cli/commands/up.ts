/** Bare `portico`: the host in a terminal, with servers to try it on. Without a terminal it is the demo. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { Conversation } from '../../host/conversation/chat/conversation.ts'
import type { Host } from '../../host/host.ts'
import { embeddedRules, startEmbedded } from '../demo/embedded.ts'
import type { ExitName } from '../exit-codes.ts'
import type { Frame, Invocation } from '../frame.ts'
import { folderOf } from '../hosting/host-files.ts'
import { MODEL_HELP, modelNamed } from '../hosting/models.ts'
import { withHost } from '../hosting/open-host.ts'
import { isInteractive } from '../io.ts'
import type { Screen } from '../output/screen.ts'
import { words } from '../output/shown.ts'
import { demo } from './demo.ts'
import { obeyHost } from './host-shell.ts'
import { takeCommands } from './typed.ts'

interface UpOptions {
  model: string
  baseUrl?: string
}

export function registerUp(program: Command, frame: Frame): void {
  program
    .command('up')
    .summary('the host in this terminal (what portico does without a command)')
    .description(
      'Starts the host with your servers and the embedded ones (notes, deploy, rogue), and takes commands. Without a terminal it runs the demo.',
    )
    .option('-m, --model <name>', MODEL_HELP, 'scripted')
    .option('--base-url <url>', 'where the model is')
    .action(frame.action(upAction))
}

async function upAction(invocation: Invocation, options: UpOptions): Promise<ExitName> {
  const { io, screen } = invocation
  if (!isInteractive(io)) return demo(invocation)
  const model = await modelNamed(io, options.model, options.baseUrl)
  const notesFolder = join(folderOf(io), 'embedded-notes')
  await mkdir(notesFolder, { recursive: true, mode: 0o700 })
  const embedded = await startEmbedded({ notesFolder })
  try {
    welcome(screen, model.label, folderOf(io))
    return await withHost(invocation, { extra: embedded.servers, rulesForExtra: embeddedRules, options: { model } }, (host) =>
      converse(invocation, host),
    )
  } finally {
    await embedded.close()
  }
}

function welcome(screen: Screen, model: string, folder: string): void {
  const { bold, dim } = screen.noteStyle
  screen.note(words`${bold('Portico: many servers, one policy, nothing without consent')}`)
  screen.note(words`${dim('servers')}  notes (a program), deploy and rogue (at ports here), and your own`)
  screen.note(words`${dim('model')}    ${model}`)
  screen.note(words`${dim('kept in')}  ${folder}`)
  screen.note(words`${dim('first')}    servers of yours, and the rogue, are used after you agreed to them`)
  screen.note(words`${dim('keys')}     arrows, Enter, Esc for no; Ctrl-C stops a call, q or Ctrl-D quits`)
}

async function converse(invocation: Invocation, host: Host): Promise<ExitName> {
  const { screen } = invocation
  const conversation = new Conversation()
  screen.note(words`\n${ready(host)}`)
  screen.note(words`${screen.noteStyle.dim('Try: help · tools · add a note title="Milk" text="2 l" · deploy api 1.4.0 to staging')}`)
  try {
    return await takeCommands(invocation, (step, line) => obeyHost(step, host, conversation, line))
  } finally {
    await host.endConversation(conversation)
  }
}

function ready(host: Host): string {
  const states = Object.values(host.health()).map(({ state }) => state)
  return `${states.filter((state) => state === 'ready').length} of ${states.length} servers are ready, with ${host.tools().length} tools.`
}
