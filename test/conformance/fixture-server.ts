/** Our fixture server as a process of its own, as anybody would start it. */

import { spawn } from 'node:child_process'
import { root } from './node24.ts'

export interface FixtureServer {
  url: string
  stop(): Promise<void>
}

export async function startFixtureServer(args: readonly string[] = []): Promise<FixtureServer> {
  const child = spawn(process.execPath, [`${root}scripts/fixture-server.mjs`, '--port', '0', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const url = await new Promise<string>((resolve, reject) => {
    let line = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      line += text
      const listening = /^listening on (\S+)\n$/.exec(line)
      if (listening) resolve(listening[1]!)
    })
    child.once('close', () => reject(new Error(`The fixture server ended before it listened: ${line}${said}`)))
  })
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
