/** Announcements that wait for a slow store. */

import { expect, test } from 'vitest'
import { Announcements } from '../../../../src/http/server/shared/announcements.ts'
import type { ReplicaServices } from '../../../../src/http/server/shared/replica-services.ts'
import { gate, until } from '../../../support/http-service.ts'

test('many notices about tasks do not displace those about lists', async () => {
  const go = gate()
  const sent: string[] = []
  const reports: string[] = []
  const broadcast = async (json: string): Promise<void> => {
    await go.opened
    sent.push(JSON.parse(json).change.kind)
  }
  const store = { replica: { broadcast }, topics: { page: async () => ({ members: [], next: undefined }) } }
  const report = (error: Error): void => void reports.push(error.message)
  const announcements = new Announcements({ store, report } as unknown as ReplicaServices)
  for (let i = 0; i < 1100; i++)
    announcements.add({ kind: 'change', change: { kind: 'extension', id: 'tasks', method: 'notifications/tasks', params: {} } })
  announcements.add({ kind: 'change', change: { kind: 'tools' } })
  expect(reports[0]).toContain('announcements to clients (extension) wait')
  go.open()
  await until(() => sent.at(-1) === 'tools')
})

test('notices that wait are limited by their size, too, and one that is larger may wait alone', async () => {
  const go = gate()
  const sent: number[] = []
  const reports: string[] = []
  const broadcast = async (json: string): Promise<void> => {
    await go.opened
    sent.push(json.length)
  }
  const store = { replica: { broadcast }, topics: { page: async () => ({ members: [], next: undefined }) } }
  const report = (error: Error): void => void reports.push(error.message)
  const announcements = new Announcements({ store, report } as unknown as ReplicaServices)
  const add = (chars: number): void =>
    announcements.add({
      kind: 'change',
      change: { kind: 'extension', id: 'tasks', method: 'notifications/tasks', params: { text: 'x'.repeat(chars) } },
    })
  // The first one is on its way, so it does not wait.
  add(1)
  for (let i = 0; i < 6; i++) add(4 * 1024 * 1024 - 100)
  expect(reports).toHaveLength(2)
  expect(reports[0]).toContain(`More than ${16 * 1024 * 1024} characters of announcements to clients (extension) wait`)
  go.open()
  await until(() => sent.length === 5)
  const again = gate()
  go.opened = again.opened
  add(1)
  add(17 * 1024 * 1024)
  expect(reports).toHaveLength(2)
  again.open()
  await until(() => sent.length === 7)
})
