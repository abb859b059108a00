/** The official conformance suite as a command: what it has to offer, one run of it, and what the run left behind. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { installNode24, node24, root } from './node24.ts'

export type Leg = 'server' | 'client' | 'authorization'

export interface Scenario {
  leg: Leg
  name: string
  /** The revisions it applies to; none if it belongs to an extension. */
  revisions: string[]
}

export interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  description: string
  errorMessage?: string
}

export interface SuiteRun {
  exitCode: number | null
  output: string
  /** What was checked, by scenario; a scenario that left nothing behind is not here. */
  checks: Map<string, Check[]>
}

const suite = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url))
/** Given this list, the suite also counts warnings as failures, but no longer looks at the exit code of a client. */
export const expectedFailures = `${root}test/conformance/expected-failures.json`

const HEADINGS: Record<string, Leg> = { Server: 'server', Client: 'client', Authorization: 'authorization' }

/** Everything the suite has, as it says itself. */
export function listScenarios(): Scenario[] {
  installNode24()
  const { status, stdout, stderr } = spawnSync(node24, [suite, 'list'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`The suite cannot list its scenarios: ${stderr}`)
  const scenarios: Scenario[] = []
  let leg: Leg | undefined
  for (const line of stdout.split('\n')) {
    const heading = /^(\w+)\b.* scenarios \(/.exec(line)
    if (heading) leg = HEADINGS[heading[1]!]
    const item = /^ {2}- (\S+) \[(.*)\]$/.exec(line)
    if (!item) continue
    if (leg === undefined) throw new Error(`The suite lists a scenario under a heading we do not know: ${line}`)
    const [, name, revisions] = item as unknown as [string, string, string]
    scenarios.push({ leg, name, revisions: revisions === 'extension' ? [] : revisions.split(',') })
  }
  return scenarios
}

/** What the suite puts before the name of a scenario when it names the folder of its results. */
const PREFIXES: Record<Leg, string> = { server: 'server-', client: '', authorization: 'authorization-server-' }

/**
 * Runs a part of the suite and reads what it left behind: its own summary counts a scenario without checks as passed.
 * `onLine` does what the suite asks for on a line of its output; if that fails, so does the run.
 */
export async function runSuite(leg: Leg, args: readonly string[], onLine?: (line: string) => Promise<void>): Promise<SuiteRun> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-conformance-'))
  try {
    const child = spawn(node24, [suite, leg, ...args, '-o', folder], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let failed: { error: unknown } | undefined
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        output += `${line}\n`
        onLine?.(line).catch((error: unknown) => {
          failed ??= { error }
          child.kill()
        })
      })
    }
    const exitCode = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
    if (failed) throw failed.error
    return { exitCode, output, checks: readChecks(folder, PREFIXES[leg]) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readChecks(folder: string, prefix: string): Map<string, Check[]> {
  const checks = new Map<string, Check[]>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (basename(file) !== 'checks.json') continue
    // <prefix><scenario>-<when>, where the name of a scenario may itself be a path.
    const name = dirname(file)
      .slice(prefix.length)
      .replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, '')
    checks.set(name, JSON.parse(readFileSync(join(folder, file), 'utf8')) as Check[])
  }
  return checks
}
