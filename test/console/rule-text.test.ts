/** Rules as sentences that a person understands. */

import { expect, test } from 'vitest'
import { ruleViews } from '../../src/console/words/rule-text.ts'
import { allow, ask, deny, quarantine, type Rule } from '../../src/host/policy-tools/index.ts'

test.each<[Rule, string]>([
  [
    allow('a', { action: ['server.launch', 'server.connect', 'server.approve'], server: ['notes', 'deploy'] }),
    'Start, connect to and enable notes or deploy without a question',
  ],
  [deny('a', { action: 'tool.call', tool: '*delete*' }), 'Never call *delete*'],
  [ask('a', { action: 'tool.call', server: 'notes' }), 'Ask first, then call any tool of notes'],
  [quarantine('a', { tier: 'untrusted' }), 'Hold back, and do not do anything with any server if the server is untrusted'],
  [allow('a', {}), 'Do anything with any server without a question'],
  [deny('a', { tool: 'edit', server: 'notes' }), 'Never do anything with edit of notes'],
  [
    deny('a', { action: ['tool.call', 'server.launch'], server: 'mail', initiator: 'model' }),
    'Never call any tool of mail, and start mail if the model asks for it',
  ],
  [deny('a', { action: 'sampling.create', server: '*' }), 'Never ask a model for any server'],
  [ask('a', { action: 'resource.*' }), 'Ask first, then do resource.* with anything'],
])('%j reads: %s', (rule, text) => {
  expect(ruleViews({ user: [rule] })[0]?.text).toBe(text)
})
