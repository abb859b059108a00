import { expect, test, vi } from 'vitest'
import { notices, sendNotices } from '../../src/base/notices.ts'

test('logs may end in any order: lines go to the last one that has not ended, and then to standard error', () => {
  const plain = vi.spyOn(console, 'error').mockReturnValue()
  const written: string[] = []
  const begin = (name: string) => sendNotices((_level, text) => written.push(`${name} ${text}`))
  const [endA, endB, endC] = [begin('a'), begin('b'), begin('c')]
  notices.write('info', '1')
  endA()
  notices.write('info', '2')
  endC()
  endC()
  notices.write('info', '3')
  endB()
  notices.write('info', '4')
  expect(written).toEqual(['c 1', 'c 2', 'b 3'])
  expect(plain.mock.calls).toEqual([['4']])
  plain.mockRestore()
})
