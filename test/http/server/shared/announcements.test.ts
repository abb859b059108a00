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
