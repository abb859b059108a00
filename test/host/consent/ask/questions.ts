/** Questions for tests. */

import { randomUUID } from 'node:crypto'
import type { Question, Subject } from '../../../../src/host/model/question.ts'

export const CALL: Extract<Subject, { kind: 'call' }> = {
  kind: 'call',
  tool: {
    name: 'send',
    title: 'Send',
    description: 'Sends a message.',
    inputSchema: { type: 'object' },
    annotations: { openWorldHint: true },
  },
  args: { to: 'bob@example.com', body: 'hello' },
  pattern: {},
  lastArgs: undefined,
  destination: 'outside',
  origins: [],
}

export const question = (more: Partial<Question> = {}): Question => ({
  id: randomUUID(),
  action: 'tool.call',
  principal: 'anna',
  run: 'run-1',
  askedAt: Date.now(),
  expiresAt: Date.now() + 60_000,
  server: { id: 'mail', title: 'Post Office', where: 'node mail.js' },
  chain: ['you', 'model scripted', 'server mail'],
  reasons: ['no rule allows it'],
  subject: CALL,
  scopes: ['once', 'session'],
  widths: ['exact'],
  ...more,
})
