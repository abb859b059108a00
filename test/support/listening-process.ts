/** A server over HTTP as a process of its own, reached once it says that it listens. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

export interface ListeningProcess {
  url: string
  /** Asks it to end, and resolves with the code it ends with. */
  stop(): Promise<number | null>
}

/** Starts a program of ours, which says `listening on URL`. */
export const startListening = (args: readonly string[]): Promise<ListeningProcess> => start(args, {}, /^listening on (\S+)$/m)

/** Starts a program that is told its port by the environment, and says something when it is ready. */
export async function startListeningAt(args: readonly string[], ready: RegExp, path: string): Promise<ListeningProcess> {
  const port = await freePort()
  const started = await start(args, { PORT: String(port) }, ready)
  return { ...started, url: `http://127.0.0.1:${port}${path}` }
}

async function start(args: readonly string[], env: Record<string, string>, ready: RegExp): Promise<ListeningProcess> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  const ended = once(child, 'close') as Promise<[number | null]>
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        // Only until it is up: some never stop talking.
        if (said.length < 10_000) said += text
        const match = ready.exec(said)
        if (match) resolve(match[1] ?? '')
      })
    }
    child.once('close', () => reject(new Error(`It ended before it listened: ${said}`)))
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 3000)
      const [code] = await ended
      clearTimeout(timer)
      return code
    },
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
