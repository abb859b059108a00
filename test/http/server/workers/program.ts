/** Starts a program with workers as real processes. */

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, vi } from 'vitest'
import { askModern, callTool } from '../../../support/http-service.ts'
import { isAlive } from '../../../support/processes.ts'

const PROGRAM = fileURLToPath(new URL('fixtures/program.mjs', import.meta.url))

export interface Said {
  url?: string
  worker?: number
  pid?: number
  closed?: number
}

export interface Program {
  child: ChildProcess
  url: string
  said: Said[]
  errors(): string
  /** The processes of the workers by their number: the newest of each. */
  pids(): Map<number, number>
}

/**
 * @param maxFiles how many files each process may have open
 * @param whenOver registers what ends it
 */
export function run(
  { maxFiles, ...options }: { maxFiles?: number; [option: string]: unknown },
  whenOver: (end: () => Promise<void>) => void = onTestFinished,
): Omit<Program, 'url'> {
  const limited = maxFiles === undefined ? [] : ['prlimit', `--nofile=${maxFiles}`]
  const [command = '', ...args] = [...limited, process.execPath, PROGRAM, JSON.stringify(options)]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const said: Said[] = []
  let errors = ''
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => said.push(JSON.parse(line) as Said))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const pids = () => new Map(said.flatMap(({ worker, pid }) => (worker === undefined ? [] : [[worker, pid as number]])))
  whenOver(async () => {
    child.kill('SIGKILL')
    await vi.waitFor(() => expect([...pids().values()].filter(isAlive)).toEqual([]), { timeout: 10_000 })
  })
  return { child, said, errors: () => errors, pids }
}

export async function start(options: Parameters<typeof run>[0], whenOver?: (end: () => Promise<void>) => void): Promise<Program> {
  const program = run(options, whenOver)
  const url = await vi.waitFor(
    () => {
      const found = program.said.find((each) => each.url && each.worker === undefined)?.url
      if (found === undefined) throw new Error(`It does not listen: ${program.errors()}`)
      return found
    },
    { timeout: 25_000 },
  )
  return { ...program, url }
}

/** The process that answers, over a connection of its own. */
export const pidAt = async (url: string): Promise<number> => {
  const { message } = await askModern(url, callTool('pid'), { connection: 'close' })
  return Number((message.result as { content: { text: string }[] }).content[0]?.text)
}
