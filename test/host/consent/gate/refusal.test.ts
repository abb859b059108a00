import { expect, test } from 'vitest'
import { actionName } from '../../../../src/host/consent/gate/refusal.ts'

const server = { id: 'notes', fingerprint: 'f', tier: 'untrusted', isKnown: true, labels: [] } as const

test('a refusal names the tool, and for sampling the request of the server', () => {
  const primitive = { kind: 'capabilities', name: 'capabilities', pin: undefined, state: 'pinned' } as const
  expect(actionName({ kind: 'sampling.deliver', server, primitive })).toBe('the answer to the sampling request of notes')
  expect(actionName({ kind: 'sampling.create', server, primitive })).toBe('the sampling request of notes')
  expect(actionName({ kind: 'tool.call', server, primitive: { ...primitive, kind: 'tool', name: 'add' } })).toBe('tool.call of notes/add')
})
