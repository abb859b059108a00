/** A server that was connected to by hand can talk without end; the person and the memory are spared. */

import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { connectOptions } from '../../src/cli/connections/connect.ts'
import { safe } from '../../src/cli/output/safe-text.ts'
import { Screen } from '../../src/cli/output/screen.ts'
import { ServerNotes } from '../../src/cli/output/server-notes.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { portico } from './support/cli.ts'
import { memoryIo } from './support/memory-io.ts'

const plain = (text: string) => safe`${text}`

function notesOn(stream?: Writable) {
  const memory = memoryIo()
  const io = stream ? { ...memory, stderr: { ...memory.stderr, stream } } : memory
  const clock = fakeClock()
  const notes = new ServerNotes({ io, screen: new Screen(io), clock })
  const lines = (): string[] => memory.err().split('\n').filter(Boolean)
  return { notes, clock, lines }
}

test('log lines are limited at once and per second, and the number left out is printed', async () => {
  const { notes, clock, lines } = notesOn()
  for (let i = 0; i < 10_000; i++) notes.note(`line ${i}`, plain)
  expect(lines()).toHaveLength(500)
  await clock.advance(1000)
  for (let i = 0; i < 100; i++) notes.note('more', plain)
  expect(lines()).toHaveLength(500 + 1 + 50)
  expect(lines()[500]).toContain('9500 lines of the server were dropped')
  notes.tellLeftOut()
  notes.tellLeftOut()
  expect(lines().at(-1)).toContain('50 lines of the server were dropped')
  expect(lines()).toHaveLength(552)
})

test('a long text is cut, and the length left out is printed', () => {
  const { notes, lines } = notesOn()
  notes.note('x'.repeat(16 * 1024), plain)
  notes.note('x'.repeat(16 * 1024 + 1), plain)
  expect(lines().map((line) => line.length)).toEqual([16 * 1024, 16 * 1024 + ' (and 1 characters more)'.length])
})

test('nothing is buffered for a reader of standard error that does not read', () => {
  const stuck = new Writable({ highWaterMark: 1, write: () => {} })
  const { notes } = notesOn(stuck)
  for (let i = 0; i < 500; i++) notes.note('x'.repeat(16 * 1024), plain)
  expect(stuck.writableLength).toBeGreaterThan(1024 * 1024)
  expect(stuck.writableLength).toBeLessThan(1024 * 1024 + 2 * 17 * 1024)
})

test('log messages and warnings share one limit', () => {
  const io = memoryIo()
  const invocation = {
    io,
    screen: new Screen(io),
    after: undefined,
    signal: new AbortController().signal,
    interruptibleStep: () => Promise.reject(new Error()),
  }
  const { onLog, onWarning } = connectOptions(invocation, { header: {}, env: {}, revision: [] })
  for (let i = 0; i < 1000; i++) {
    onLog?.({ level: 'info', logger: 'x'.repeat(1000), data: { i } })
    onWarning?.('odd')
  }
  const lines = io.err().split('\n')
  expect(lines.length).toBeLessThan(700)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(200)
})

test('lines that a server writes to standard error are counted', async () => {
  const flood = `
    import { createServer } from ${JSON.stringify(new URL('../../dist/server/index.js', import.meta.url).href)}
    import { serveStdio } from ${JSON.stringify(new URL('../../dist/stdio/index.js', import.meta.url).href)}
    const server = createServer({ name: 'flood', version: '1' })
    server.tool('go', {}, async () => {
      for (let i = 0; i < 3000; i++) process.stderr.write('err ' + i + '\\n')
      return 'done'
    })
    serveStdio(server)`
  const { code, stdout, stderr } = await portico(['call', 'go', '--verbose', '--', process.execPath, '--input-type=module', '-e', flood])
  expect([code, stdout]).toEqual([0, 'done\n'])
  expect(stderr).toMatch(/\d+ lines of the server were dropped/)
  expect(stderr.split('\n').length).toBeLessThan(2500)
})
