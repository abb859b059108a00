/** Bare `portico`: the host in a terminal, with servers to try it on. Without a terminal it is the demo. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Host, Talk } from '../../host/host.ts'
import { assign } from '../arguments/assignment.ts'
import { checkArguments } from '../arguments/check.ts'
import { startEmbedded } from '../demo/embedded.ts'
import type { ExitName } from '../exit-codes.ts'
import { explain, UsageError } from '../faults.ts'
import type { Frame, Invocation } from '../frame.ts'
import { folderOf } from '../hosting/host-files.ts'
import { MODEL_HELP, modelNamed } from '../hosting/models.ts'
import { withHost } from '../hosting/open-host.ts'
import { oneTurn } from '../hosting/talk.ts'
import { isInteractive } from '../io.ts'
import { words } from '../output/shown.ts'
import { table } from '../output/table.ts'
import { splitWords } from '../split-words.ts'
import type { Session } from '../target/session.ts'
import { LineTerminal } from '../terminal/line-terminal.ts'
import { callTool, findTool } from './call.ts'
import { demo } from './demo.ts'

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

const HELP = 'servers · tools · call TOOL key=value ... · help · quit · anything else is said to the model'

async function upAction(invocation: Invocation, options: UpOptions): Promise<ExitName> {
  const { io, screen } = invocation
  if (!isInteractive(io)) return demo(invocation)
  const model = await modelNamed(io, options.model, options.baseUrl)
  const notesFolder = join(folderOf(io), 'embedded-notes')
  await mkdir(notesFolder, { recursive: true, mode: 0o700 })
  const embedded = await startEmbedded({ notesFolder })
  try {
    screen.note(words`${screen.noteStyle.bold('Portico: many servers, one policy, nothing without consent')}`)
    screen.note(words`${screen.noteStyle.dim(`${model.label}; what is kept is in ${folderOf(io)}`)}`)
    return await withHost(invocation, { extra: embedded.servers, options: { model } }, (host) => converse(invocation, host))
  } finally {
    await embedded.close()
  }
}

async function converse(invocation: Invocation, host: Host): Promise<ExitName> {
  const { io, screen, signal } = invocation
  const terminal = new LineTerminal(io, '> ')
  const talk = host.talk()
  screen.note(words`\n${screen.noteStyle.dim(HELP)}`)
  try {
    for (;;) {
      const line = await terminal.read(signal)
      if (line === undefined || /^\s*(?:quit|exit|q)\s*$/.test(line)) return 'ok'
      await obey(invocation, host, talk, line).catch((error: unknown) => {
        const { message, hint } = explain(error)
        screen.note(words`${screen.noteStyle.red('✗')} ${message}`)
        if (hint) screen.note(words`  ${screen.noteStyle.dim(hint)}`)
      })
    }
  } finally {
    await host.endTalk(talk)
  }
}

async function obey(invocation: Invocation, host: Host, talk: Talk, line: string): Promise<void> {
  const { io, screen } = invocation
  const [verb] = line.trim().split(/\s+/, 1)
  switch (verb) {
    case '':
      return
    case 'help':
      return screen.note(words`${HELP}`)
    case 'servers': {
      const rows = Object.entries(host.health()).map(([id, { state }]) => [id, state, `${host.review(id)?.items.length ?? 0} not approved`])
      return screen.print(
        table([{ title: 'SERVER', style: 'bold' }, { title: 'STATE' }, { title: '' }], rows, screen.style, screen.columns),
      )
    }
    case 'tools': {
      const rows = host.tools().map(({ exposed, definition }) => [exposed, definition.description?.split('\n', 1)[0] ?? ''])
      return screen.print(table([{ title: 'TOOL', style: 'bold' }, { title: 'WHAT IT DOES' }], rows, screen.style, screen.columns))
    }
    case 'call': {
      const [, name, ...pairs] = splitWords(line)
      if (name === undefined) throw new UsageError('call needs a tool')
      const session = catalogOf(host)
      const tool = await findTool(session, name)
      const args = await assign(pairs, { schema: tool.inputSchema, cwd: io.cwd })
      await checkArguments(tool, args, () => {})
      await callTool(invocation, session, name, args, {})
      return
    }
    default:
      await oneTurn(invocation, host, talk, line)
  }
}

/** All servers as one, by the names of the catalogue. */
const catalogOf = (host: Host): Pick<Session, 'title' | 'tools' | 'call'> => ({
  title: 'any server',
  tools: async () => host.tools().map(({ exposed, definition }) => ({ ...definition, name: exposed })),
  call: (name, args, options) => host.call(name, args, options),
})
