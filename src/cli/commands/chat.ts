/** `portico chat`: talks to a model that can use the servers. */

import type { Command } from 'commander'
import { Conversation } from '../../host/index.ts'
import { MODEL_HELP, modelNamed } from '../chat/models.ts'
import { runTurn } from '../chat/turn.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { withHost } from '../connections/open-host.ts'
import { UsageError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { isInteractive } from '../io.ts'
import { counted } from '../output/counted.ts'
import { safe } from '../output/safe-text.ts'
import { LineTerminal } from '../terminal/line-terminal.ts'

interface ChatCommandOptions {
  model: string
  baseUrl?: string
  server: string[]
  inbox?: true
}

export function registerChat(program: Command, runner: CommandRunner): void {
  program
    .command('chat')
    .summary('talk to a model that can use the servers')
    .description('Sends a message to a model that can use the servers, under the policy. Without a message, starts an interactive chat.')
    .argument('[message...]')
    .option('-m, --model <name>', MODEL_HELP, 'scripted')
    .option('--base-url <url>', 'base URL of the model API')
    .option('-s, --server <name>', 'use only this server (repeatable)', (text, before: string[]) => [...before, text], [])
    .option('--inbox', 'without a terminal: wait until questions are answered with "portico inbox"')
    .option('--json', 'write one JSON object per event')
    .action(runner.action(chatAction))
}

async function chatAction(invocation: Invocation, message: string[], options: ChatCommandOptions): Promise<ExitName> {
  const { io, screen } = invocation
  const said = message.join(' ')
  if (said === '' && !isInteractive(io)) throw new UsageError('An interactive chat needs a terminal', 'Give a message')
  const model = await modelNamed(io, options.model, options.baseUrl)
  const only = options.server.length > 0 ? { only: options.server } : {}
  return withHost(invocation, { ...only, parks: options.inbox === true, options: { model } }, async (host) => {
    const conversation = new Conversation()
    try {
      if (said !== '') return await runTurn(invocation, host, conversation, said)
      screen.note(
        safe`${screen.noteStyle.dim(`${model.label}, ${counted(host.tools().length, 'tool')}. An empty line or Ctrl-D ends the chat.`)}`,
      )
      const terminal = new LineTerminal(io, '> ')
      for (;;) {
        const line = await terminal.read(invocation.signal)
        if (line === undefined || line.trim() === '') return 'ok'
        await invocation.interruptibleStep((step) => runTurn(step, host, conversation, line))
        if (invocation.signal.aborted) return 'interrupted'
      }
    } finally {
      await host.endConversation(conversation)
    }
  })
}
