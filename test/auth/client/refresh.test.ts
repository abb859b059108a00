import { describe, expect, test } from 'vitest'
import { memoryTokenStore } from '../../../src/auth/client/index.ts'
import { type RefreshRequest, refreshTokens } from '../../../src/auth/client/tokens/refresh.ts'
import type { Tokens } from '../../../src/auth/client/tokens/tokens.ts'

const tokens: Tokens = { accessToken: 'a1', type: 'Bearer', refreshToken: 'r1', scopes: [], asked: [] }

/** What becomes of `kept` when the access token `a1` was refused. Nothing may be sent. */
const refresh = async (kept: Tokens | undefined, more: Partial<RefreshRequest> = {}) => {
  const store = memoryTokenStore()
  if (kept) await store.set('name', JSON.stringify(kept))
  const http = {
    fetch: () => {
      throw new Error('Something was sent')
    },
  }
  return refreshTokens(http as never, { store, name: 'name', refusedToken: 'a1', ...more } as RefreshRequest)
}

describe('new tokens are not asked for', () => {
  test('tokens are not refreshed without a refresh token', async () => {
    expect(await refresh(undefined)).toEqual({ kind: 'gone' })
    const { refreshToken: _, ...rest } = tokens
    expect(await refresh(rest)).toEqual({ kind: 'gone' })
  })

  test('tokens are not refreshed when they are bound to another key, or to none', async () => {
    const key = { thumbprint: 'mine' } as never
    expect(await refresh({ ...tokens, keyThumbprint: 'other' }, { key })).toEqual({ kind: 'gone' })
    expect(await refresh({ ...tokens, keyThumbprint: 'other' })).toEqual({ kind: 'gone' })
    expect(await refresh(tokens, { key })).toEqual({ kind: 'gone' })
  })

  test('tokens are not refreshed when another process was faster, unless its tokens have expired', async () => {
    const faster: Tokens = { ...tokens, accessToken: 'a2', renewAt: Date.now() + 3_600_000 }
    expect(await refresh(faster)).toEqual({ kind: 'tokens', tokens: faster })
    await expect(refresh({ ...faster, renewAt: Date.now() - 1 })).rejects.toThrow()
    await expect(refresh({ ...faster, accessToken: 'a1' })).rejects.toThrow()
  })
})
