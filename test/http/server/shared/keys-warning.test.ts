import { afterEach, expect, test, vi } from 'vitest'
import { httpHandler, listen } from '../../../../src/http/index.ts'
// Handlers load it in the background. A file that ends before would report errors.
import '../../../../src/http/server/shared/shared-sessions.ts'
import { createServer, keyRing } from '../../../../src/server/index.ts'
import { memoryStore } from '../../../../src/store/index.ts'

const about = { name: 'test', version: '1.0.0' }
const keys = keyRing('a secret of at least 32 characters')

afterEach(() => void vi.restoreAllMocks())

test('a server with a store of several processes and no keys says so when it starts', async () => {
  const warn = vi.spyOn(console, 'error').mockImplementation(() => {})
  const shared = memoryStore()
  const store = shared.another()
  await httpHandler(createServer({ ...about, keys }), { store }).close()
  await httpHandler(createServer(about), { store: shared }).close()
  await httpHandler(createServer(about)).close()
  expect(warn.mock.calls.filter(([line]) => String(line).includes('no keys'))).toEqual([])

  await httpHandler(createServer(about), { store }).close()
  const listening = await listen(createServer(about), { store, handleSignals: false })
  await listening.close()
  // It may say, too, with which name it has joined.
  expect(warn.mock.calls.filter(([line]) => !String(line).startsWith('portico: this replica is'))).toEqual([
    [expect.stringMatching(/createServer\(\{ keys: keyRing\(secret\) \}\), or the setting keys of portico serve \(PORTICO_KEYS_FILE\)$/)],
    [expect.stringContaining('no keys')],
  ])
  await shared.close()
})
