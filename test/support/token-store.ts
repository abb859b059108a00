/** What every store of tokens must do, whoever made it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { TokenStore } from '../../src/auth/store/token-store.ts'

/** `make` gives a new, empty store each time. */
export function checkTokenStore(make: () => Promise<TokenStore>): void {
  test('a store keeps values by key until they are replaced or removed', async () => {
    const store = await make()
    expect(await store.get('a')).toBeUndefined()
    await store.set('a', '1')
    await store.set('b', '{"token":"ü \u{1F511}"}')
    expect([await store.get('a'), await store.get('b'), await store.get('c')]).toEqual(['1', '{"token":"ü \u{1F511}"}', undefined])
    await store.set('a', '')
    expect(await store.get('a')).toBe('')
    await store.delete('a')
    await store.delete('never there')
    expect([await store.get('a'), await store.get('b')]).toEqual([undefined, '{"token":"ü \u{1F511}"}'])
  })

  test('a store accepts any key and never confuses two keys', async () => {
    const store = await make()
    const keys = [
      'https://as.example|https://mcp.example/mcp',
      '../../etc/passwd',
      '',
      'A',
      'a',
      'a/b',
      'a\0b',
      '__proto__',
      'x'.repeat(5000),
      '%00',
    ]
    for (const key of keys) await store.set(key, `value of ${key.length} ${key.slice(0, 20)}`)
    for (const key of keys) expect(await store.get(key)).toBe(`value of ${key.length} ${key.slice(0, 20)}`)
  })

  test('runs one at a time with the same key, also when some fail, and others meanwhile', async () => {
    const store = await make()
    let running = 0
    let most = 0
    const turn = (fails: boolean) =>
      store.withLock('k', async () => {
        most = Math.max(most, ++running)
        await sleep(3)
        running--
        if (fails) throw new Error('as it should')
        return 'ran'
      })
    const turns = await Promise.allSettled([false, true, false, true, false].map(turn))
    expect(turns.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(turns[1]).toMatchObject({ reason: { message: 'as it should' } })
    expect(most).toBe(1)
    const other = await store.withLock('k', () => store.withLock('another', async () => store.withLock('third', async () => 'in')))
    expect(other).toBe('in')
  })
}
