/** The `portico` command as a process of its own. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** PORTICO_CLI runs another build than the one that tests make. */
export const CLI = process.env.PORTICO_CLI ?? fileURLToPath(new URL('../../../dist/cli/index.js', import.meta.url))

export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

/** What starts a server that comes with portico, for use after `--`. */
export const serve = (...args: string[]): string[] => ['--', process.execPath, CLI, 'serve', ...args]

/** What starts a server of this folder, for use after `--`. */
export const serveFixture = (name: string, ...args: string[]): string[] => ['--', process.execPath, fixture(name), ...args]

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface CliOptions {
  env?: Record<string, string>
  cwd?: string
  input?: string
}

/** Runs it to its end. Its home is not ours. */
export function portico(args: readonly string[], { env = {}, cwd, input }: CliOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [CLI, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH ?? '', ...env },
    ...(cwd !== undefined && { cwd }),
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input ?? '')
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}
