import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { TOUR } from '../../src/cli/demo/tour.ts'
import { temporaryFolders } from '../support/folders.ts'
import { INSTALL_MS, installPrograms } from '../support/packages.ts'
import { CLI, portico } from './support/cli.ts'

const newFolder = temporaryFolders()

beforeAll(() => installPrograms({ ip: 'iproute2', unshare: 'util-linux' }), INSTALL_MS)

/** A home with nothing in it, a folder for temporary files, and a variable by which every process of the run is known. */
function nowhere() {
  const [home, temporary] = [newFolder(), newFolder()]
  const mark = `portico-test-${process.pid}-${home.split('-').at(-1)}`
  return { home, temporary, mark, env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: temporary, PORTICO_TEST_MARK: mark } }
}

/** Processes that have the mark in their surroundings. */
const alive = (mark: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)
    } catch {
      return false
    }
  })

function ended(
  command: string,
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { stdout: '', stderr: '' }
  for (const which of ['stdout', 'stderr'] as const)
    child[which].setEncoding('utf8').on('data', (part: string) => {
      text[which] += part
    })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...text })))
}

test('the demo passes without network, home and keys, and leaves no files or processes behind', async () => {
  // Where this is not permitted nothing is proved, so it fails.
  const permitted = spawnSync('unshare', ['-n', 'true'], { encoding: 'utf8' })
  expect(permitted.status, `unshare -n is not permitted here, so networking cannot be disabled: ${permitted.stderr}`).toBe(0)
  const { home, temporary, mark, env } = nowhere()
  const offline = `ip link set lo up || exit 99; ip -o link | grep -qv ' lo:' && exit 98; exec "$@"`
  const { code, stdout, stderr } = await ended('unshare', ['-n', 'sh', '-c', offline, 'sh', process.execPath, CLI, 'demo'], env)
  expect(code, stdout + stderr).toBe(0)
  for (const { title } of TOUR) expect(stdout).toContain(title)
  expect(stdout).toContain('All steps passed.')
  expect(stderr).toBe('')
  expect(readdirSync(home)).toEqual([])
  expect(readdirSync(temporary)).toEqual([])
  await expect.poll(() => alive(mark)).toEqual([])
}, 90_000)

test('the demo with --json prints one document and nothing else', async () => {
  const { home, temporary } = nowhere()
  const { code, stdout, stderr } = await portico(['demo', '--json'], { env: { HOME: home, TMPDIR: temporary } })
  expect(code, stdout + stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ ok: true, steps: TOUR.map(({ title }) => ({ step: title, ok: true })) })
  expect(stderr).toBe('')
}, 60_000)

test('a temporary folder that cannot be written is reported, and is not a success', async () => {
  const { home, temporary } = nowhere()
  const { code, stderr } = await portico(['demo'], { env: { HOME: home, TMPDIR: join(temporary, 'missing') } })
  expect(code).toBe(1)
  expect(stderr).toContain('missing')
})
