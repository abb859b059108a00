import { expect, test } from 'vitest'
import { actionName, notDone } from '../../../../src/host/consent/gate/action-words.ts'

const server = { id: 'notes' }

test('a refusal names the tool, and for sampling the server instead of its capability', () => {
  const primitive = { name: 'capabilities' }
  expect(actionName({ kind: 'sampling.deliver', server, primitive })).toBe('sending the answer of the model to notes')
  expect(notDone({ kind: 'sampling.create', server, primitive })).toBe('No model was asked on behalf of notes')
  expect(actionName({ kind: 'tool.call', server, primitive: { name: 'add' } })).toBe('calling notes/add')
  expect(notDone({ kind: 'tool.call', server, primitive: { name: 'add' } })).toBe('notes/add was denied')
})
