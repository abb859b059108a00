/** `portico` without a command as a process that serves its console, and the page as a program sees it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { Page } from '../../console/pages.ts'
import { CLI } from './cli.ts'

export const LINK = /^(http:\/\/127\.0\.0\.1:(\d+))\/#code=(\S+)$/m

export interface Started {
  child: ChildProcess
  /** All output so far. */
  stdout(): string
  stderr(): string
  /** Milliseconds from the start to the link. */
  readyMs: number
  origin: string
  port: number
  link: string
  /** Resolves with the exit code. */
  ended: Promise<number | null>
}

export interface StartOptions {
  /** The home directory, which contains the folder of the host. */
  home: string
  args?: readonly string[]
  env?: Record<string, string>
  /** Another program and the words before the arguments. Default: Node with the command. */
  program?: readonly [string, ...string[]]
  uid?: number
}

const running = new Set<ChildProcess>()

afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
})

/** Every process of the run has this in its environment. */
const markOf = (home: string): string => `portico-test-${process.pid}-${home.split('-').at(-1)}`

/** Starts it without a terminal. Resolves when it has printed its link. */
export async function startConsole({ home, args = [], env = {}, program = [process.execPath, CLI], uid }: StartOptions): Promise<Started> {
  const begun = performance.now()
  const [command, ...before] = program
  const child = spawn(command, [...before, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: home,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      PORTICO_HOME: join(home, 'host'),
      PORTICO_TEST_MARK: markOf(home),
      ...env,
    },
    ...(uid !== undefined && { uid, gid: uid }),
  })
  running.add(child)
  let [stdout, stderr] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [, origin = '', port = '', code = ''] = await new Promise<RegExpExecArray>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const link = LINK.exec(stdout)
      if (link) resolve(link)
    })
    void ended.then(() => reject(new Error(`It ended without a link: ${stdout}${stderr}`)))
  })
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    readyMs: performance.now() - begun,
    origin,
    port: Number(port),
    link: `${origin}/#code=${code}`,
    ended,
  }
}

/** A session of the page behind a link. */
export async function openLink(link: string): Promise<Page> {
  const { origin } = new URL(link)
  return Page.open({ origin, link: () => link } as Parameters<typeof Page.open>[0])
}

/** Processes of a run that are still alive. */
export const aliveOf = (home: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(markOf(home))
    } catch {
      return false
    }
  })
