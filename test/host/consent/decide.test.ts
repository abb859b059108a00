import { describe, expect, test } from 'vitest'
import { decide } from '../../../src/host/consent/decide.ts'
import { action, grantFor, policy, rule } from './actions.ts'

describe('decide', () => {
  test('where no rule says anything, a tool call is asked about [T-HOST-015]', () => {
    expect(decide(policy(), action(), [])).toMatchObject({ effect: 'ask', reasons: [{ id: 'default' }] })
  })
  test('a rule of the person allows', () => {
    expect(decide(policy({ user: [rule('allow', { server: 'notes' })] }), action(), []).effect).toBe('allow')
  })
  test('a grant for just this answers the question', () => {
    expect(decide(policy(), action(), [grantFor(action())])).toMatchObject({ effect: 'allow', grant: 'grant-1' })
  })
})
