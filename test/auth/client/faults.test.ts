import { expect, test } from 'vitest'
import { authFault, isAuthFault } from '../../../src/auth/client/faults.ts'
import { McpError } from '../../../src/protocol/errors.ts'

test('a fault is recognised by the code of the OAuth error, and not without one', () => {
  expect(isAuthFault(authFault('token', 'Refused', { error: 'invalid_grant' }), 'invalid_grant')).toBe(true)
  expect(isAuthFault(authFault('token', 'Refused', { error: 'invalid_grant' }), 'invalid_client')).toBe(false)
  expect(isAuthFault(authFault('token', 'Refused'), 'invalid_grant')).toBe(false)
  expect(isAuthFault(new McpError('ERR_AUTH', 'Refused'), 'invalid_grant')).toBe(false)
  expect(isAuthFault(new McpError('ERR_AUTH', 'Refused', { data: null }), 'invalid_grant')).toBe(false)
  expect(isAuthFault(new Error('invalid_grant'), 'invalid_grant')).toBe(false)
})
