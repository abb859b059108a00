/** `portico doctor`: finds the step at which connecting to a server fails, and what to do about it. */

import { existsSync, readdirSync } from 'node:fs'
import type { Command } from 'commander'
import { Client, McpError } from '../../client/index.ts'
import { Checkup, CheckupFailure, type CheckupFinding, checkCommand, checkUrl } from '../../host/index.ts'
import { typedText } from '../command-name.ts'
import type { CommandRunner, Invocation } from '../command-runner.ts'
import { connectOptions, targetFor } from '../connections/connect.ts'
import { type DirectServer, withDirect } from '../connections/direct.ts'
import { storagePath } from '../connections/host-files.ts'
import { addTargetOptions, type TargetOptions } from '../connections/options.ts'
import { parseTarget } from '../connections/target.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'

const DEFAULT_TIMEOUT_MS = 10_000
const WIDEST_STEP = 14

export function registerDoctor(program: Command, runner: CommandRunner): void {
  addTargetOptions(
    program
      .command('doctor')
      .summary('find out why a server cannot be reached')
      .description(
        'Checks every step of connecting to a server and shows which one fails. For a URL: DNS, TCP, TLS, HTTP, well-known,\n' +
          'negotiation, authorization. For a command: whether it exists, starts, answers, and writes only messages to its standard output.',
      )
      .argument('[server]')
      .usage('[options] <url> | <name> | -- command...'),
  )
    .option('--json', 'write JSON')
    .action(runner.action(doctorAction, { takesCommand: true }))
}

async function doctorAction(invocation: Invocation, server: string | undefined, options: TargetOptions): Promise<ExitName> {
  const { target } = parseTarget(server === undefined ? [] : [server], invocation.after)
  const { io, screen, signal } = invocation
  const checkup = new Checkup((finding) => {
    if (!screen.isJson) printFinding(invocation, finding)
  })
  const timeoutMs = options.timeout === undefined ? DEFAULT_TIMEOUT_MS : options.timeout * 1000
  const connect = { ...connectOptions(invocation, options), limits: { timeoutMs, connectTimeoutMs: timeoutMs } }
  const examine = async (direct: DirectServer): Promise<void> => {
    const { header, env, cwd } = direct.options
    if (direct.target.kind === 'command') {
      const { command, args } = direct.target
      const process = { command, args, env, ...(cwd !== undefined && { cwd }) }
      return checkCommand(checkup, { process, connect, path: io.env.PATH ?? '', cwd: io.cwd })
    }
    await checkUrl(checkup, direct.target.url, {
      headers: header,
      isInsecureAllowed: options.insecure === true,
      timeoutMs,
      signal,
      connect: async () => Client.connect(await targetFor({ ...invocation, io: withoutPerson(invocation) }, direct), connect),
    })
  }
  await withDirect(invocation, target, options, examine, { opensPages: false }).catch((error: unknown) => {
    if (!(error instanceof McpError) || error.code !== 'ERR_SPAWN' || checkup.findings.length > 0) throw error
    return checkup.step('found', () => Promise.reject(new CheckupFailure(error.message, 'Is it installed, and is the path right?')))
  })
  if (screen.isJson) screen.printJson({ isHealthy: checkup.isHealthy, findings: checkup.findings })
  else noteKeys(invocation)
  if (checkup.isHealthy) return 'ok'
  return checkup.findings.some(({ step, status }) => status === 'failed' && step === 'authorization') ? 'auth' : 'unreachable'
}

/** The store warns once, before its first entry. */
function noteKeys({ io, screen }: Invocation): void {
  const folders = (['secrets', 'tokens'] as const).map((what) => storagePath(io, what)).filter(hasKeyBesideEntries)
  if (folders.length === 0) return
  const where = folders.join(' and ')
  screen.note(safe`${screen.noteStyle.yellow('!')} There is no keychain: only file permissions protect what is in ${where}`)
}

function hasKeyBesideEntries(folder: string): boolean {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.endsWith('.lock')) : []
  return names.length > 1 && names.includes('key')
}

/** A checkup never opens a browser. */
const withoutPerson = ({ io }: Invocation): Invocation['io'] => ({ ...io, stderr: { ...io.stderr, isTTY: false } })

function printFinding({ io, screen }: Invocation, { step, status, ms, detail, advice }: CheckupFinding): void {
  const { style } = screen
  const mark = status === 'ok' ? style.green('✓') : status === 'failed' ? style.red('✗') : style.dim('–')
  const time = status === 'skipped' ? '' : ` ${ms} ms`
  const shown = untrustedLines(detail.trimEnd()).hanging(WIDEST_STEP + 3)
  screen.print(safe`${mark} ${step.padEnd(WIDEST_STEP)} ${status === 'skipped' ? style.dim(shown) : shown}${style.dim(time)}`)
  if (advice !== undefined) screen.print(safe`  ${style.yellow('→')} ${untrustedLines(typedText(io, advice)).hanging(4)}`)
}
