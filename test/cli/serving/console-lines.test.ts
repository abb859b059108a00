import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { notices } from '../../../src/base/notices.ts'
import { consoleLines } from '../../../src/cli/serving/console-lines.ts'
import type { Output } from '../../../src/cli/shared-terminal.ts'

test('each line of JSON has the level of what was said', () => {
  const stream = new PassThrough()
  const before = notices.write
  const end = consoleLines('json', { stream } as unknown as Output)
  console.error('a fault')
  console.warn('a %s', 'warning')
  notices.write('info', '100 %s of a notice')
  notices.write('warn', 'a doubt')
  end()
  expect(notices.write).toBe(before)
  const lines = String(stream.read()).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 'error', message: 'a fault' },
    { level: 'warn', message: 'a warning' },
    { level: 'info', message: '100 %s of a notice' },
    { level: 'warn', message: 'a doubt' },
  ])
})

test('each line of text has a time and a level, and what the program prints stays as it is', () => {
  const stream = new PassThrough()
  const before = { notice: notices.write, error: console.error }
  const end = consoleLines('text', { stream } as unknown as Output)
  expect(console.error).toBe(before.error)
  notices.write('info', 'portico: this replica is x')
  notices.write('error', 'portico: broken\u001b[2J:\n    at a line')
  end()
  expect(notices.write).toBe(before.notice)
  expect(String(stream.read()).replaceAll(/^\d{4}-\S+Z /gm, 'TIME ')).toBe(
    'TIME info portico: this replica is x\nTIME error portico: broken\\x1b[2J:\n    at a line\n',
  )
})
