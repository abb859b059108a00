import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', timeout: 30_000 })

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

test.each([
  [['scripts/fixture-client.mjs'], 'Missing URL. Usage: npm run -s fixture:client -- URL'],
  [['scripts/fixture-client.mjs', 'nonsense'], 'Expected an http or https URL, got "nonsense"'],
  [['scripts/fixture-server.mjs', '--port', 'abc'], '--port: expected a number from 0 to 65535, got "abc"'],
])('a wrong command line of a fixture gets one clear line: %j', (args, line) => {
  const { status, stderr } = run(...args)
  expect(status).toBe(2)
  expect(stderr).toContain(line)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})

test.each(['client', 'server', 'stdio'])('the fixture %s has a help', (name) => {
  expect(run(`scripts/fixture-${name}.mjs`, '--help')).toMatchObject({ status: 0, stdout: expect.stringContaining(`fixture:${name}`) })
})

test('a busy port is reported in one line', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  const child = spawn(process.execPath, ['scripts/fixture-server.mjs', '--port', String(port)], { cwd: root })
  running.push(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  taken.close()
  expect(code).toBe(2)
  expect(stderr.trim()).toBe(`Port ${port} is in use`)
}, 30_000)

test('the fixture server ends when npm gets SIGTERM', async () => {
  const npm = spawn('npm', ['run', '-s', 'fixture:server'], { cwd: root })
  running.push(npm)
  let stdout = ''
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  await expect.poll(() => stdout, { timeout: 30_000 }).toContain('listening on')
  const url = /http:\S+/.exec(stdout)?.[0] as string
  npm.kill('SIGTERM')
  const isThere = (): Promise<boolean> =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await expect.poll(isThere, { timeout: 10_000 }).toBe(false)
}, 60_000)
