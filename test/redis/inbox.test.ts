/** The inbox of a replica: messages wait in Redis, where they have a limit, and not in the process. */

import { expect, test } from 'vitest'
import type { Connection } from '../../src/redis/connection.ts'
import { Inbox } from '../../src/redis/inbox.ts'
import { gate, until } from '../support/http-service.ts'

/** A stream of Redis with these messages, one in each reply. */
function connectionWith(messages: string[]): { connection: Connection; reads: string[] } {
  const reads: string[] = []
  const client = {
    callBuffer: async (...args: unknown[]) => {
      const after = Number(String(args.at(-1)).split('-')[0])
      reads.push(String(args.at(-1)))
      const text = messages[after]
      if (text === undefined) return new Promise(() => {})
      const fields = ['n', String(after + 1), 'm', text].map((each) => Buffer.from(each))
      return [[Buffer.from('inbox'), [[Buffer.from(`${after + 1}-0`), fields]]]]
    },
    disconnect: () => {},
  }
  return { connection: { blocking: async () => client, note: () => {} } as unknown as Connection, reads }
}

test('a replica that is slow to handle a message reads no more, and counts it as unread', async () => {
  const { connection, reads } = connectionWith(['a', 'bb', 'ccc'])
  const gates = [gate(), gate(), gate()]
  const handled: string[] = []
  let missed = 0
  const inbox = new Inbox('inbox', connection, {
    onMessage: async (bytes) => {
      await gates[handled.push(String(bytes)) - 1]?.opened
    },
    onManyHandled: async () => {},
    onMissed: () => missed++,
  })
  await until(() => handled.length === 1)
  await new Promise(setImmediate)
  expect([reads, inbox.cursor, inbox.bytes]).toEqual([['0-0'], '0-0', 0])
  gates[0]?.open()
  await until(() => handled.length === 2)
  expect([reads, inbox.cursor, inbox.bytes]).toEqual([['0-0', '1-0'], '1-0', 1])
  for (const each of gates) each.open()
  await until(() => inbox.cursor === '3-0')
  expect([handled, inbox.bytes, missed]).toEqual([['a', 'bb', 'ccc'], 6, 0])
  inbox.close()
})
