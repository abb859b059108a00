/** The logs of servers that a console keeps, and the limits in the documentation. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { consoleFeed, DEFAULT_CONSOLE_LIMITS } from '../../src/console/index.ts'

const line = (text: string, server = 'notes') => ({ kind: 'log', server, log: { kind: 'stderr', line: text } }) as const

test('the newest log entries of each server are kept, with their numbers', () => {
  const feed = consoleFeed({ maxLogEntries: 3, now: () => 42 })
  for (let i = 1; i <= 10; i++) feed.onEvent(line(`line ${i}`))
  feed.onEvent(line('other', 'deploy'))
  expect(feed.logOf('notes')).toEqual([8, 9, 10].map((seq) => ({ seq, at: 42, log: { kind: 'stderr', line: `line ${seq}` } })))
  expect(feed.logOf('deploy').map(({ seq }) => seq)).toEqual([1])
  expect(feed.logOf('nothing')).toEqual([])
})

test('a long log entry is cut, and says how long it was', () => {
  const feed = consoleFeed()
  feed.onEvent(line('x'.repeat(100_000)))
  feed.onEvent({ kind: 'log', server: 'notes', log: { kind: 'message', message: { level: 'info', data: { text: 'y'.repeat(100_000) } } } })
  const [stderr, message] = feed.logOf('notes').map(({ log }) => JSON.stringify(log))
  for (const text of [stderr, message]) expect(text?.length).toBeLessThan(20_000)
  expect(stderr).toContain('(100000 characters)')
  expect(message).toContain('(100011 characters)')
})

test('only the logs of so many servers are kept', () => {
  const feed = consoleFeed()
  for (let i = 0; i < 300; i++) feed.onEvent(line('x', `server ${i}`))
  expect(feed.logOf('server 99')).toEqual([])
  expect(feed.logOf('server 100')).toHaveLength(1)
})

test('a listener gets every event until it leaves', () => {
  const feed = consoleFeed()
  const seen: string[] = []
  const leave = feed.listen(({ kind }) => seen.push(kind))
  feed.onEvent(line('x'))
  leave()
  feed.onEvent(line('y'))
  expect(seen).toEqual(['log'])
})

test('every limit of a console is documented', () => {
  const page = readFileSync(new URL('../../docs/console-api.md', import.meta.url), 'utf8')
  for (const name of Object.keys(DEFAULT_CONSOLE_LIMITS)) expect(page).toContain(`| \`${name}\` |`)
})
