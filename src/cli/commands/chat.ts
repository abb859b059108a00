/** `portico chat`: a model that uses the servers, under the policy. */

import type { Command } from 'commander'
import { Conversation } from '../../host/conversation/chat/conversation.ts'
import type { ExitName } from '../exit-codes.ts'
import { UsageError } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { MODEL_HELP, modelNamed } from '../hosting/models.ts'
import { withHost } from '../hosting/open-host.ts'
import { oneTurn } from '../hosting/talk.ts'
import { isInteractive } from '../io.ts'
import { words } from '../output/shown.ts'
import { LineTerminal } from '../terminal/line-terminal.ts'

interface ChatCommandOptions {
  model: string
  baseUrl?: string
  server: string[]
  inbox?: true
}

export function registerChat(program: Command, frame: Frame): void {
  program
    .command('chat')
    .summary('talk to a model that uses the servers')
    .description(
      'Says something to a model that may use the servers, under the policy. Without a message it goes on until you have enough.',
    )
    .argument('[message...]')
    .option('-m, --model <name>', MODEL_HELP, 'scripted')
    .option('--base-url <url>', 'where the model is')
    .option('-s, --server <name>', 'only this server; may be given several times', (text, before: string[]) => [...before, text], [])
    .option('--inbox', 'without a terminal: let questions wait for somebody who answers them with portico inbox')
    .option('--json', 'write one JSON object a part')
    .action(frame.action(chatAction))
}

async function chatAction(invocation: Invocation, message: string[], options: ChatCommandOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const said = message.join(' ')
  if (said === '' && !isInteractive(io)) throw new UsageError('There is nobody to talk to', 'Give a message')
  const model = await modelNamed(io, options.model, options.baseUrl)
  const only = options.server.length > 0 ? { only: options.server } : {}
  return withHost(invocation, { ...only, parks: options.inbox === true, options: { model } }, async (host) => {
    const conversation = new Conversation()
    try {
      if (said !== '') return await oneTurn(invocation, host, conversation, said)
      screen.note(words`${screen.noteStyle.dim(`${model.label}, ${host.tools().length} tools. An empty line or Ctrl-D ends it.`)}`)
      const terminal = new LineTerminal(io, '> ')
      for (;;) {
        const line = await terminal.read(invocation.signal)
        if (line === undefined || line.trim() === '') return 'ok'
        await invocation.step((step) => oneTurn(step, host, conversation, line))
        if (invocation.signal.aborted) return 'interrupted'
      }
    } finally {
      await host.endConversation(conversation)
    }
  })
}
