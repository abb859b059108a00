/** `portico` without a command: the host with its console, as processes. */

import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { event } from '../console/pages.ts'
import { temporaryFolders } from '../support/folders.ts'
import { http } from '../support/http-requests.ts'
import { freePort } from '../support/listening-process.ts'
import { INSTALL_MS, installPrograms } from '../support/packages.ts'
import { CLI, portico } from './support/cli.ts'
import { aliveOf, LINK, openLink, startConsole } from './support/started.ts'

const newFolder = temporaryFolders()
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

beforeAll(() => installPrograms({ ip: 'iproute2', unshare: 'util-linux' }), INSTALL_MS)

/** A connection is refused. */
const isClosed = (origin: string): Promise<boolean> =>
  http(origin, { method: 'GET' }).then(
    () => false,
    () => true,
  )

describe('the first run', () => {
  test('on an empty home the page is ready at once, and the sample servers follow', async () => {
    const home = newFolder()
    const started = await startConsole({ home })
    // 2 s is the goal on a machine that does nothing else. The tests share theirs.
    expect(started.readyMs).toBeLessThan(10_000)
    expect(started.stdout().trimEnd().split('\n').length).toBeLessThanOrEqual(6)
    const page = await openLink(started.link)
    const states = async (): Promise<Record<string, string>> => {
      const { servers } = await page.get('GET /api/servers')
      return Object.fromEntries(servers.map(({ id, health }: { id: string; health: { state: string } }) => [id, health.state]))
    }
    await expect.poll(states, { timeout: 20_000 }).toEqual({ notes: 'ready', deploy: 'ready' })
    const names = async (): Promise<string[]> => (await page.get('GET /api/tools')).tools.map(({ exposed }: { exposed: string }) => exposed)
    await expect.poll(names, { timeout: 20_000 }).toContain('notes__list')
    expect(await page.run('POST /api/tools/call', { tool: 'notes__list' })).toMatchObject({ state: 'done', result: { content: [{}] } })
    const index = await http(started.origin, { method: 'GET' })
    expect(index).toMatchObject({ status: 200, headers: { 'content-security-policy': expect.stringContaining("default-src 'none'") } })
    expect(started.stderr()).toBe('')
  }, 60_000)

  test('it needs no network', async () => {
    const permitted = spawnSync('unshare', ['-n', 'true'], { encoding: 'utf8' })
    expect(permitted.status, `unshare -n is not permitted here, so networking cannot be disabled: ${permitted.stderr}`).toBe(0)
    const home = newFolder()
    // Its port is in a network of its own, so only what it prints can be seen from here, and what a program inside it fetches.
    const fetched = `fetch(process.argv[1].split('#')[0]).then(async (a) => console.log(a.status, (await a.text()).length > 100))`
    const script = `ip link set lo up || exit 99; ip -o link | grep -qv ' lo:' && exit 98
      "$1" "$2" > "$3/out" & portico=$!
      until grep -qs code= "$3/out"; do sleep 0.1; done
      "$1" -e "$4" "$(grep code= "$3/out")"; kill -TERM $portico; wait $portico; echo "exit $?"`
    const args = ['-n', 'sh', '-c', script, 'sh', process.execPath, CLI, home, fetched]
    const env = { PATH: process.env.PATH ?? '', HOME: home, PORTICO_HOME: join(home, 'host') }
    const { stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8', env, timeout: 60_000 })
    expect(stdout + stderr).toBe('200 true\nexit 0\n')
  }, 90_000)

  test('npm start serves the console, and SIGTERM to it ends everything', async () => {
    const home = newFolder()
    const started = await startConsole({ home, program: ['npm', '--prefix', ROOT, 'start'] })
    await openLink(started.link)
    started.child.kill('SIGTERM')
    expect(await started.ended).toBe(0)
    expect(await isClosed(started.origin)).toBe(true)
    await expect.poll(() => aliveOf(home)).toEqual([])
  }, 180_000)
})

describe('the end', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s ends it with 0; its servers, its port and its socket are gone',
    async (signal) => {
      const home = newFolder()
      const started = await startConsole({ home })
      const page = await openLink(started.link)
      const events = await page.events()
      await event(events, 'hello')
      expect(statSync(join(home, 'host', 'console.sock')).mode & 0o777).toBe(0o600)
      started.child.kill(signal)
      expect(await started.ended).toBe(0)
      expect(await isClosed(started.origin)).toBe(true)
      expect(existsSync(join(home, 'host', 'console.sock'))).toBe(false)
      await expect.poll(() => aliveOf(home)).toEqual([])
      expect(started.stderr()).toBe('')
    },
    60_000,
  )

  test('after a kill the next run takes over', async () => {
    const home = newFolder()
    const first = await startConsole({ home })
    first.child.kill('SIGKILL')
    await first.ended
    const second = await startConsole({ home })
    expect(second.stdout()).not.toContain('Another Portico is running')
    const { stdout } = await portico(['console'], { env: { HOME: home, PORTICO_HOME: join(home, 'host') } })
    expect(LINK.exec(stdout)?.[1]).toBe(second.origin)
  }, 60_000)
})

describe('ports', () => {
  test('each start has a port of its own; a given port must be free', async () => {
    const started = await startConsole({ home: newFolder() })
    const other = await startConsole({ home: newFolder() })
    expect(other.port).not.toBe(started.port)
    const home = newFolder()
    const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
    const taken = await portico(['--port', String(started.port)], { env })
    expect(taken).toMatchObject({ code: 1, stdout: '' })
    expect(taken.stderr).toContain(`Port ${started.port} cannot be used: another program uses it`)
    const wrong = await portico(['--port', '70000'], { env })
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--port: expected a number from 0 to 65535, got "70000"') })
  }, 60_000)

  test('a given port is used', async () => {
    const port = await freePort()
    const started = await startConsole({ home: newFolder(), args: ['--port', String(port)] })
    expect(started.port).toBe(port)
  }, 60_000)
})

describe('two processes', () => {
  test('a second run says that another one runs, and portico console gives a link to the first', async () => {
    const home = newFolder()
    const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
    const first = await startConsole({ home })
    const second = await startConsole({ home })
    expect(second.stdout()).toContain(`Another Portico is running: ${first.origin} (process ${first.child.pid}).`)
    expect(second.stdout().trimEnd().split('\n').length).toBeLessThanOrEqual(6)
    expect(second.origin).not.toBe(first.origin)
    const { code, stdout } = await portico(['console'], { env })
    expect(code).toBe(0)
    expect(stdout.startsWith(`${first.origin}/#code=`)).toBe(true)
    await openLink(stdout.trim())
    const json = JSON.parse((await portico(['console', '--json'], { env })).stdout)
    expect(json).toEqual({ pid: first.child.pid, origin: first.origin, link: expect.stringContaining('#code=') })
    first.child.kill('SIGTERM')
    second.child.kill('SIGTERM')
    expect([await first.ended, await second.ended]).toEqual([0, 0])
    const none = await portico(['console'], { env })
    expect(none).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining('No console is running') })
  }, 90_000)

  test('a path that is too long for a socket is reported, and the console works without it', async () => {
    const home = newFolder()
    const long = join(home, 'h'.repeat(100))
    const started = await startConsole({ home, env: { PORTICO_HOME: long } })
    await openLink(started.link)
    const { code, stderr } = await portico(['console'], { env: { HOME: home, PORTICO_HOME: long } })
    expect(code).toBe(2)
    expect(stderr).toContain('too long for a socket')
  }, 60_000)
})

describe('options', () => {
  test('without a terminal and without a console there is nothing to use', async () => {
    const home = newFolder()
    const { code, stderr } = await portico(['--no-console'], { env: { HOME: home, PORTICO_HOME: join(home, 'host') } })
    expect(code).toBe(2)
    expect(stderr).toContain('--no-console needs a terminal')
  })

  test('a browser opens the link, as one argument, unless --no-open is given', async () => {
    const home = newFolder()
    const opener = join(home, 'xdg-open')
    const seen = join(home, 'opened')
    writeFileSync(opener, `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > ${seen}\n`)
    chmodSync(opener, 0o755)
    // Root gets no browser, so the command runs as another user here.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined
    if (uid !== undefined) chownSync(home, uid, uid)
    const env = { PATH: `${home}:${process.env.PATH}`, DISPLAY: ':9' }
    const quiet = await startConsole({ home, uid, env, args: ['--no-open'] })
    expect(quiet.stdout()).not.toContain('opens in your browser')
    quiet.child.kill('SIGTERM')
    await quiet.ended
    expect(existsSync(seen)).toBe(false)
    const started = await startConsole({ home, uid, env })
    expect(started.stdout()).toContain('The console opens in your browser')
    await expect
      .poll(() => existsSync(seen) && readFileSync(seen, 'utf8'), { timeout: 10_000 })
      .toMatch(/^1\nhttp:\/\/127\.0\.0\.1:\d+\/#code=\S+\n$/)
    // The browser and the printed link have a code each, so that both work.
    await openLink(readFileSync(seen, 'utf8').split('\n')[1] as string)
    await openLink(started.link)
  }, 60_000)
})
