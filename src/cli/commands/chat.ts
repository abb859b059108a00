/** `portico chat`: talks to a model that can use the servers. */

import type { Command } from 'commander'
import { Conversation, type Host, openConversations } from '../../host/index.ts'
import { showLastTurns } from '../chat/last-turns.ts'
import { chosenModel, MODEL_HELP } from '../chat/model-by-name.ts'
import { listConversations, storeConversation } from '../chat/stored.ts'
import { runTurn } from '../chat/turn.ts'
import { typedCommand } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { storagePath } from '../connections/host-files.ts'
import { withHost } from '../connections/open-host.ts'
import { bundledSamples } from '../demo/embedded.ts'
import { UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { notEnabledNote, settled } from '../shell/servers.ts'
import { LineTerminal } from '../terminal/line-editor.ts'
import { SampleServers } from '../up/sample-servers.ts'

interface ChatCommandOptions {
  model?: string
  baseUrl?: string
  server: string[]
  list?: true
  resume?: string
  save: boolean
  inbox?: true
}

export function registerChat(program: Command, runner: CommandRunner): void {
  program
    .command('chat')
    .summary('talk to a model that can use the servers')
    .description(
      'Sends a message to a model that can use the servers, under the policy. Without a message, starts an interactive chat.\n' +
        'It has your servers and the samples of the shell (notes, deploy). Conversations are stored without secrets in the folder of the host, and can be continued.',
    )
    .argument('[message...]')
    .option('-m, --model <name>', MODEL_HELP)
    .option('--base-url <url>', 'base URL of the model API')
    .option('-s, --server <name>', 'use only this server (repeatable)', (text, before: string[]) => [...before, text], [])
    .option('--list', 'list the stored conversations')
    .option('--resume <id>', 'continue a stored conversation')
    .option('--no-save', 'do not store this conversation')
    .option('--inbox', 'without a terminal: wait until questions are answered with "portico inbox"')
    .option('--json', 'write one JSON object per event; with --list: one list')
    .action(runner.action(chatAction))
}

async function chatAction(invocation: Invocation, message: string[], options: ChatCommandOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const folder = storagePath(io, 'conversations')
  if (options.list) {
    await listConversations(screen, openConversations({ folder }))
    return 'ok'
  }
  const said = message.join(' ')
  if (said === '' && !isInteractive(io)) throw new UsageError('An interactive chat needs a terminal', 'Give a message')
  const models = await chosenModel(io, options.model, options.baseUrl)
  const only = options.server.length > 0 ? { only: options.server } : {}
  // A single message needs the tools at once. In an interactive chat the prompt comes first.
  const waits = said !== ''
  return withHost(
    invocation,
    { ...(await bundledSamples(io)), ...only, parks: options.inbox === true, waits, options: models },
    async (host) => {
      const conversation = options.resume === undefined ? new Conversation() : await host.conversations.load(options.resume)
      const chat: Chat = { invocation, host, conversation, saves: options.save, followsFile: options.server.length === 0 }
      try {
        return said === '' ? await converse(chat) : await sayOnce(chat, said)
      } finally {
        await host.endConversation(conversation)
      }
    },
  )
}

interface Chat {
  invocation: Invocation
  host: Host
  conversation: Conversation
  /** Whether the conversation is stored. */
  saves: boolean
  /** Whether servers that another terminal adds or removes change here. Not if the person chose the servers of this chat. */
  followsFile: boolean
}

async function sayOnce(chat: Chat, said: string): Promise<ExitName> {
  const { io, screen } = chat.invocation
  if (!screen.isJson) notEnabledNote(screen, chat.host, `Enable: ${typedCommand(io, 'servers enable')}`)
  const { exit, id } = await turn(chat, chat.invocation, said)
  if (id !== undefined && isInteractive(io)) screen.note(screen.noteStyle.dim(`Continue: ${typedCommand(io, `chat --resume ${id}`)}`))
  return exit
}

async function converse(chat: Chat): Promise<ExitName> {
  const { invocation, host, conversation } = chat
  const { io, screen, signal } = invocation
  const { dim } = screen.noteStyle
  showLastTurns(screen, conversation)
  screen.note(dim(`Model: ${host.models[0]?.label}. An empty line or Ctrl-D ends the chat.`))
  notEnabledNote(screen, host, `Enable: ${typedCommand(io, 'servers enable')}`)
  const servers = new SampleServers(invocation, host)
  if (chat.followsFile) await servers.follow()
  const terminal = new LineTerminal(io, '> ')
  let stored: string | undefined
  try {
    for (;;) {
      const line = await terminal.read(signal)
      if (line === undefined || line.trim() === '') break
      await invocation.interruptibleStep(async (step) => {
        await servers.refresh()
        await settled(host, step.signal)
        stored = (await turn(chat, step, line)).id ?? stored
      })
      if (signal.aborted) return 'interrupted'
    }
  } finally {
    await servers.close()
  }
  if (stored !== undefined) screen.note(dim(`Continue: ${typedCommand(io, `chat --resume ${stored}`)}`))
  return 'ok'
}

/** The conversation is stored after each turn, so that a crash loses nothing that was said before. */
async function turn(
  { host, conversation, saves }: Chat,
  step: Invocation,
  said: string,
): Promise<{ exit: ExitName; id: string | undefined }> {
  try {
    const exit = await runTurn(step, host, conversation, said)
    return { exit, id: saves ? await storeConversation(step.screen, host, conversation) : undefined }
  } catch (error) {
    if (saves) await storeConversation(step.screen, host, conversation)
    throw error
  }
}
