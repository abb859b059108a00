import { expect, test } from 'vitest'
import { authError, isOAuthError } from '../../../src/auth/client/errors.ts'
import { McpError } from '../../../src/protocol/errors.ts'

test('a fault is known by the code of the OAuth error, and one without details is none of them', () => {
  expect(isOAuthError(authError('token', 'Refused', { error: 'invalid_grant' }), 'invalid_grant')).toBe(true)
  expect(isOAuthError(authError('token', 'Refused', { error: 'invalid_grant' }), 'invalid_client')).toBe(false)
  expect(isOAuthError(authError('token', 'Refused'), 'invalid_grant')).toBe(false)
  expect(isOAuthError(new McpError('ERR_AUTH', 'Refused'), 'invalid_grant')).toBe(false)
  expect(isOAuthError(new McpError('ERR_AUTH', 'Refused', { data: null }), 'invalid_grant')).toBe(false)
  expect(isOAuthError(new Error('invalid_grant'), 'invalid_grant')).toBe(false)
})
