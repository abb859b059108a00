/** Checks a server that is a program: it exists, starts, answers, and writes only messages to its standard output. */

import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path'
import { Client, type ConnectOptions, type Link, McpError, type Target } from '../../client/index.ts'
import type { ProcessTargetOptions } from '../../stdio/index.ts'
import { processTarget } from '../../stdio/index.ts'
import { type Checkup, CheckupFailure } from './checkup.ts'
import { countOffering } from './lists.ts'

export interface CommandCheckupOptions {
  process: ProcessTargetOptions
  connect: ConnectOptions
  path: string
  cwd: string
}

export async function checkCommand(checkup: Checkup, { process, connect, path, cwd }: CommandCheckupOptions): Promise<void> {
  const noise: string[] = []
  let client: Client | undefined
  let link: Link | undefined
  await checkup.step('found', async () => ({ detail: await findProgram(process.command, path, process.cwd ?? cwd), value: undefined }))
  const target = processTarget({ ...process, restarts: false, onWarning: (message) => void (noise.length < 10 && noise.push(message)) })
  try {
    await checkup.step('starts', async () => {
      link = await target.open()
      return { detail: 'running', value: undefined }
    })
    await checkup.step('initialize', async () => {
      client = await Client.connect(opened(target, link as Link), connect).catch((error: unknown) => {
        throw explained(error, noise)
      })
      const { info } = client.server
      return { detail: `${info.title ?? info.name} ${info.version}, revision ${client.revision}`, value: undefined }
    })
    await checkup.step('lists', async () => ({ detail: await countOffering(client as Client), value: undefined }))
    await checkup.step('clean output', async () => {
      if (noise.length === 0) return { detail: 'only messages on standard output', value: undefined }
      throw new CheckupFailure(
        noise[0] as string,
        'Only protocol messages may go to standard output. Write everything else to standard error.',
      )
    })
  } finally {
    await (client?.close() ?? link?.close())
  }
}

/** The same target; the first `open` returns the connection that is already open. */
function opened(target: Target, link: Link): Target {
  let first: Link | undefined = link
  return {
    ...target,
    open: async () => {
      const given = first ?? (await target.open())
      first = undefined
      return given
    },
  }
}

function explained(error: unknown, noise: readonly string[]): unknown {
  if (!(error instanceof McpError)) return error
  if (error.code === 'ERR_EXIT')
    return new CheckupFailure(
      error.message,
      /\bE404\b|\b404 Not Found\b/.test(`${error.message}\n${noise.join('\n')}`)
        ? 'There is no such package. Check its name.'
        : 'The program ended before it answered. Run it by hand to see why; it may need arguments or variables (-e NAME=value).',
    )
  // The limit is the one of lines in a row that are not messages.
  if (error.code === 'ERR_LIMIT' && noise.length > 0)
    return new CheckupFailure(
      error.message,
      'The program writes lines that are not messages. Only protocol messages may go to standard output: write everything else to standard error. Is it an MCP server, and does it need an argument such as "stdio"?',
    )
  if (error.code === 'ERR_TIMEOUT')
    return new CheckupFailure(
      noise[0] ?? error.message,
      noise.length === 0
        ? 'The program runs but does not answer. Is it an MCP server that uses standard streams?'
        : 'The program writes text that is not a message. Is it an MCP server?',
    )
  return error
}

/** Finds the program as the system does. */
async function findProgram(command: string, path: string, cwd: string): Promise<string> {
  const candidates =
    command.includes('/') || command.includes(sep)
      ? [isAbsolute(command) ? command : resolve(cwd, command)]
      : path.split(delimiter).map((folder) => join(folder, command))
  let found: string | undefined
  for (const candidate of candidates) {
    const about = await stat(candidate).catch(() => undefined)
    if (!about?.isFile()) continue
    found = candidate
    if (await isExecutable(candidate)) return candidate
  }
  if (found !== undefined) throw new CheckupFailure(`${found} is not executable`, `chmod +x ${found}`)
  throw new CheckupFailure(
    `Program not found: ${JSON.stringify(command)}`,
    candidates.length === 1 ? 'Is the path right?' : 'It is not in any folder of PATH. Is it installed?',
  )
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
