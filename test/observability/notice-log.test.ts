import pino from 'pino'
import { afterEach, expect, it, vi } from 'vitest'
import { notices } from '../../src/base/notices.ts'
import { reportError } from '../../src/base/report-error.ts'
import { logNotices } from '../../src/observability/index.ts'

afterEach(() => void vi.restoreAllMocks())

it('writes what belongs to no request to a real pino logger, until it is ended', () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const lines: Record<string, unknown>[] = []
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const end = logNotices(logger)
  notices.write('info', 'portico: this replica is a 100 % replica')
  notices.write('warn', 'portico: worker 1 is gone')
  reportError('portico: an HTTP request failed:', new Error('broken'))
  end()
  notices.write('info', 'portico: later')
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [30, 'portico: this replica is a 100 % replica'],
    [40, 'portico: worker 1 is gone'],
    [50, expect.stringMatching(/^portico: an HTTP request failed: Error: broken\n {4}at /)],
  ])
  expect(printed.mock.calls).toEqual([['portico: later']])
})

it('goes to standard error if the logger fails', () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const fail = (): never => {
    throw new Error('The disk is full')
  }
  const end = logNotices({ info: fail, warn: fail, error: fail })
  notices.write('warn', 'portico: a doubt')
  end()
  expect(printed.mock.calls).toEqual([['portico: a doubt']])
})

it('leaves a log alone that has replaced it', () => {
  const [first, second] = [[] as string[], [] as string[]]
  const into = (lines: string[]) => (_fields: object, message: string) => void lines.push(message)
  const loggerOf = (lines: string[]) => ({ info: into(lines), warn: into(lines), error: into(lines) })
  const endFirst = logNotices(loggerOf(first))
  const endSecond = logNotices(loggerOf(second))
  endFirst()
  notices.write('info', 'portico: x')
  endSecond()
  expect([first, second]).toEqual([[], ['portico: x']])
})
