/** What a host would write down. */

import type { AuditEntry } from '../../../../src/host/model/audit-record.ts'

export const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  action: 'tool.call',
  principal: 'anna',
  run: 'run-1',
  initiator: 'model',
  server: 'notes',
  fingerprint: 'f'.repeat(64),
  primitive: 'search',
  effect: 'allow',
  reasons: ['a grant of Monday allows it'],
  args: { query: 'bread' },
  ...more,
})

export const DONE = { kind: 'done', durationMs: 3, resultBytes: 120 } as const
