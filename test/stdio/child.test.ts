import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { endChild, endChildrenAtExit, endGroup, type ProcessOptions, Stderr, startChild } from '../../src/stdio/child.ts'
import { childEnvironment } from '../../src/stdio/environment.ts'
import { groupOf, isAlive, untilGone } from '../support/processes.ts'
import { proves } from '../support/proves.ts'
import { fixture } from '../support/stdio-process.ts'

const ODD = fixture('odd-server.mjs')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/portico-child-`)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Diary {
  options: ProcessOptions
  read(): string[]
  /** Resolves with what follows `word` on its line. */
  until(word: string): Promise<string>
}

/** A server that writes down what happens to it. */
function diarist(...flags: string[]): Diary {
  const file = `${folder}/diary`
  const read = (): string[] => {
    try {
      return readFileSync(file, 'utf8').trimEnd().split('\n')
    } catch {
      return []
    }
  }
  return {
    options: { command: process.execPath, args: [ODD, ...flags], env: { DIARY: file } },
    read,
    until: async (word) => {
      for (;;) {
        const line = read().find((each) => each.startsWith(`${word} `))
        if (line !== undefined) return line.slice(word.length + 1)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
  }
}

describe('the environment of a child', () => {
  test('the environment of a child has only the needed and the declared variables', () => {
    process.env.PORTICO_TEST_SECRET = 'hunter2'
    try {
      const environment = childEnvironment({ API_URL: 'https://example.com', PATH: '/only/here' })
      const allowed = new Set(['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'API_URL'])
      expect(Object.keys(environment).filter((name) => !allowed.has(name))).toEqual([])
      expect(environment).toMatchObject({ API_URL: 'https://example.com', PATH: '/only/here' })
    } finally {
      delete process.env.PORTICO_TEST_SECRET
    }
  })

  test('the environment of a child has no shell functions in it', () => {
    const before = process.env.TERM
    process.env.TERM = '() { :; }; echo vulnerable'
    try {
      expect(childEnvironment()).not.toHaveProperty('TERM')
    } finally {
      if (before === undefined) delete process.env.TERM
      else process.env.TERM = before
    }
  })
})

describe('a process that cannot be started is an ERR_SPAWN that says why', () => {
  test.each<[string, ProcessOptions, RegExp]>([
    ['there is no such command', { command: 'no-such-command-here' }, /"no-such-command-here": there is no such command \(ENOENT\)/],
    ['there is no such folder', { command: process.execPath, cwd: '/no/such/folder' }, /no such command or working directory \(ENOENT\)/],
    ['it may not be executed', { command: ODD }, /it is not executable \(EACCES\)/],
    ['an argument has a NUL', { command: process.execPath, args: ['a\0b'] }, /null bytes/],
    ['an argument is too long', { command: process.execPath, args: ['x'.repeat(4_000_000)] }, /E2BIG/],
    ['there is no command', { command: '' }, /needs a command/],
  ])('a process that cannot be started is an ERR_SPAWN that says why: %s', async (_why, options, message) => {
    await expect(startChild(options)).rejects.toMatchObject({ code: 'ERR_SPAWN', message: expect.stringMatching(message) })
  })
})

describe('ending a child', () => {
  test('a child that exits when its input is closed needs no signal, and sees the end of its input first', async () => {
    proves('T-STDIO-011', 'R-STDIO-009')
    const { options, read, until } = diarist()
    const child = await startChild(options)
    await until('pid')
    await endChild(child)
    expect(read()).toEqual([`pid ${child.pid}`, 'eof'])
    expect(child.exitCode).toBe(0)
  })

  test('a child that stays gets SIGTERM after a while', async () => {
    proves('T-STDIO-012', 'R-STDIO-009')
    const { options, read, until } = diarist('--ignore-eof')
    const child = await startChild(options)
    await until('pid')
    const started = performance.now()
    await endChild(child, 200)
    expect(performance.now() - started).toBeGreaterThanOrEqual(199)
    expect(read()).toEqual([`pid ${child.pid}`, 'eof', 'SIGTERM'])
    await untilGone(child.pid as number, 10_000)
  })

  test('a child that ignores SIGTERM gets SIGKILL after another while', async () => {
    proves('T-STDIO-013', 'T-LIFE-040', 'R-STDIO-009')
    const { options, read, until } = diarist('--ignore-eof', '--ignore-sigterm')
    const child = await startChild(options)
    await until('pid')
    const started = performance.now()
    await endChild(child, 200)
    expect(performance.now() - started).toBeGreaterThanOrEqual(399)
    await untilGone(child.pid as number, 10_000)
    expect(read().slice(0, 3)).toEqual([`pid ${child.pid}`, 'eof', 'SIGTERM'])
    expect(child.signalCode).toBe('SIGKILL')
  })

  test('ending a child also ends its own children that ignore SIGTERM', async () => {
    const { options, until } = diarist('--grandchild')
    const child = await startChild(options)
    const grandchild = Number(await until('grandchild'))
    expect(groupOf(grandchild)).toBe(child.pid)
    expect(isAlive(grandchild)).toBe(true)
    await endChild(child, 200)
    await untilGone(grandchild, 10_000)
    expect(isAlive(child.pid as number)).toBe(false)
  })

  test('ending a child that is already gone ends the processes it left behind', async () => {
    const { options, until } = diarist('--grandchild')
    const child = await startChild(options)
    const grandchild = Number(await until('grandchild'))
    const exited = new Promise((resolve) => child.once('exit', resolve))
    process.kill(child.pid as number, 'SIGKILL')
    await exited
    await endGroup(child)
    await untilGone(grandchild, 10_000)
  })

  test('ending a child leaves no timer behind', async () => {
    const { options, until } = diarist()
    const child = await startChild(options)
    await until('pid')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await endChild(child, 60_000)
    expect(vi.getTimerCount()).toBe(0)
    await endChild(child, 60_000)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('ending a child leaves no exit listener behind', async () => {
    const { options, until } = diarist('--ignore-eof')
    const child = await startChild(options)
    await until('pid')
    const before = child.listenerCount('exit')
    await endChild(child, 50)
    expect(child.listenerCount('exit')).toBeLessThanOrEqual(before)
  })

  test('ending the most stubborn child takes less than five seconds and leaves no process', async () => {
    const { options, until } = diarist('--ignore-eof', '--ignore-sigterm', '--grandchild')
    const child = await startChild(options)
    const grandchild = Number(await until('grandchild'))
    const started = performance.now()
    await endChild(child)
    await Promise.all([untilGone(child.pid as number, 10_000), untilGone(grandchild, 10_000)])
    expect(performance.now() - started).toBeLessThan(5000)
  })
})

test('a child leads its own process group and is started without a shell', async () => {
  const { options, until } = diarist()
  const child = await startChild(options)
  expect(Number(await until('pid'))).toBe(child.pid)
  expect(groupOf(child.pid as number)).toBe(child.pid)
  expect(groupOf(process.pid)).not.toBe(child.pid)
  await endChild(child)
})

describe('what a child says on standard error', () => {
  const collect = (max?: number): { stream: PassThrough; stderr: Stderr; lines: string[] } => {
    const stream = new PassThrough()
    const lines: string[] = []
    return { stream, lines, stderr: new Stderr(stream, { onStderr: (line) => lines.push(line) }, max) }
  }
  const ended = (stream: PassThrough): Promise<void> => new Promise((resolve) => stream.once('end', resolve))

  test('standard error is delivered line by line in any chunks, and the last line without a newline too', async () => {
    const { stream, lines } = collect()
    for (const byte of Buffer.from('one\nžluť\n\nlast')) stream.write(Uint8Array.of(byte))
    stream.end()
    await ended(stream)
    expect(lines).toEqual(['one', 'žluť', '', 'last'])
  })

  test.each([99, 100, 101])('standard error of %i characters is kept up to 100', async (length) => {
    const { stream, stderr } = collect(100)
    stream.end(`${'x'.repeat(length - 1)}y`)
    await ended(stream)
    expect(stderr.tail).toHaveLength(Math.min(length, 100))
    expect(stderr.tail.endsWith('y')).toBe(true)
  })

  test('standard error is not kept when the limit is 0', async () => {
    const { stream, stderr, lines } = collect(0)
    stream.end('words\n')
    await ended(stream)
    expect(stderr.tail).toBe('')
    expect(lines).toEqual(['words'])
  })

  test('a part of standard error goes into an error message, without what looks secret', async () => {
    const { stream, stderr } = collect()
    stream.write(`${'noise '.repeat(1000)}\n`)
    stream.end('Authorization: Bearer abcdefghijklmnop123\npostgres://me:hunter2@db/x\nkey sk-abcdefghijklmnop1234\nfatal: no settings\n')
    await ended(stream)
    const words = stderr.lastWords()
    expect(words.length).toBeLessThanOrEqual(1003)
    expect(words).toContain('fatal: no settings')
    for (const secret of ['abcdefghijklmnop', 'hunter2']) expect(words).not.toContain(secret)
  })

  test('standard error is cut before a line or a word, so that no part of a secret is left', async () => {
    const [lines, words] = [collect(), collect()]
    lines.stream.end(`${'x'.repeat(500)}one-long-secret\n${'y '.repeat(495)}\n`)
    words.stream.end(`${'x'.repeat(500)}one-long-secret ${'y '.repeat(495)}\n`)
    await Promise.all([ended(lines.stream), ended(words.stream)])
    for (const { stderr } of [lines, words]) expect(stderr.lastWords()).toMatch(/^\.\.\.y y .* y$/)
  })

  test('standard error is cut after a line break at the start of the last 1,000 characters', async () => {
    const { stream, stderr } = collect()
    stream.end(`before\n${'y'.repeat(500)}\n${'z'.repeat(498)}`)
    await ended(stream)
    expect(stderr.lastWords()).toBe(`...${'y'.repeat(500)}\n${'z'.repeat(498)}`)
  })

  test.each([
    [1000, 0],
    [1001, 3],
  ])('standard error of %i characters without a space is quoted in full, or after %i dots', async (length, dots) => {
    const { stream, stderr } = collect()
    stream.end('x'.repeat(length))
    await ended(stream)
    expect(stderr.lastWords()).toBe('.'.repeat(dots) + 'x'.repeat(1000))
  })

  test('only whole lines of standard error are delivered, and an empty rest is not a line', async () => {
    const { stream, lines } = collect()
    stream.write('half')
    await new Promise((resolve) => setImmediate(resolve))
    expect(lines).toEqual([])
    stream.end(' a line\n')
    await ended(stream)
    expect(lines).toEqual(['half a line'])
  })

  test('an error of the standard error stream ends neither the child nor this process', () => {
    const { stream, stderr } = collect()
    stream.destroy(new Error('read failed'))
    expect(stderr.tail).toBe('')
  })
})

test('at the end of this process only living children get a signal', async () => {
  const before = new Set(process.listeners('exit'))
  endChildrenAtExit()
  endChildrenAtExit()
  const added = process.listeners('exit').filter((listener) => !before.has(listener))
  expect(added).toHaveLength(1)
  const [living, ended] = await Promise.all([startChild(diarist().options), startChild(diarist().options)])
  onTestFinished(() => endChild(living, 500))
  await endChild(ended, 500)
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => true)
  try {
    for (const listener of added) listener(0)
    expect(kill.mock.calls).toContainEqual([-(living.pid as number), 'SIGTERM'])
    expect(kill.mock.calls.map(([pid]) => Math.abs(Number(pid)))).not.toContain(ended.pid)
  } finally {
    kill.mockRestore()
  }
})
