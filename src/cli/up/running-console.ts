/**
 * Lets a second process of the same person find a running console. A socket in the folder of the host gives links to processes that
 * can use the folder. No file contains a secret: a tool that reads files must not be able to get in.
 */

import { createHash } from 'node:crypto'
import { chmod, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { isObject } from '../../base/json.ts'
import type { Console } from '../../console/index.ts'

export interface RunningConsole {
  pid: number
  /** The address of the page, without a code. */
  origin: string
  /** The address with a new one-time code, if it was asked for. */
  link?: string
}

/** `who` asks which console runs; `link` asks for a new link, too. */
type Request = 'who' | 'link'

/** A request or an answer takes this long at most. */
const TIMEOUT_MS = 2_000
const MAX_ANSWER = 4_096
const MAX_REQUEST = 16
/** Systems allow 104 to 108 bytes for the path of a socket. */
const MAX_PATH_BYTES = 100

/** Undefined: the path is too long for a socket. */
export function socketOf(folder: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (platform === 'win32') return `\\\\.\\pipe\\portico-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`
  const path = join(folder, 'console.sock')
  return Buffer.byteLength(path) > MAX_PATH_BYTES ? undefined : path
}

/** The console that runs for this folder. Undefined: none. */
export async function runningConsole(folder: string, request: Request): Promise<RunningConsole | undefined> {
  const path = socketOf(folder)
  const text = path === undefined ? '' : await askedAt(path, request)
  try {
    const answer: unknown = JSON.parse(text)
    if (!isObject(answer) || typeof answer.pid !== 'number' || typeof answer.origin !== 'string') return undefined
    return { pid: answer.pid, origin: answer.origin, ...(typeof answer.link === 'string' && { link: answer.link }) }
  } catch {
    return undefined
  }
}

/**
 * Answers other processes from now on. The first console of a folder keeps the socket: a second one is found through its own output
 * only. Returns a function that ends it.
 */
export async function announceConsole(folder: string, { origin, link }: Pick<Console, 'origin' | 'link'>): Promise<() => Promise<void>> {
  const path = socketOf(folder)
  if (path === undefined || (await runningConsole(folder, 'who'))) return async () => {}
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    answer(socket, (request) => ({ pid: process.pid, origin, ...(request === 'link' && { link: link() }) }))
  })
  // Left behind by a process that was killed.
  if (process.platform !== 'win32') await rm(path, { force: true })
  if (!(await isListening(server, path))) return async () => {}
  if (process.platform !== 'win32') await chmod(path, 0o600).catch(() => {})
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
}

/** False: another process was faster, or the folder cannot hold sockets. The console itself works without. */
const isListening = (server: Server, path: string): Promise<boolean> =>
  new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(path, () => resolve(true))
  })

/** A request must be written first: on some systems anyone can read from the socket. */
function answer(socket: Socket, make: (request: Request) => RunningConsole): void {
  let text = ''
  socket.on('error', () => {})
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part
    if (text === 'who\n' || text === 'link\n') socket.end(JSON.stringify(make(text.trim() as Request)))
    else if (text.length > MAX_REQUEST) socket.destroy()
  })
}

/** Resolves with an empty text if nothing answers. */
const askedAt = (path: string, request: Request): Promise<string> =>
  new Promise((resolve) => {
    let text = ''
    const socket = connect(path, () => socket.write(`${request}\n`))
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
    socket.on('error', () => {})
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
      if (text.length > MAX_ANSWER) socket.destroy()
    })
    socket.once('close', () => resolve(text))
  })
