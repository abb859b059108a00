/** What the tests of the OAuth client share. */

import { afterEach } from 'vitest'
import type { OAuth } from '../../../src/auth/client/index.ts'
import type { Client } from '../../../src/client/client.ts'
import { type ConnectAnywhereOptions, connect } from '../../../src/index.ts'

const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

export async function open(url: string, auth: OAuth, options: ConnectAnywhereOptions = {}): Promise<Client> {
  const client = await connect(url, { auth, ...options })
  clients.push(client)
  return client
}

export async function failureOf(promise: Promise<unknown>): Promise<{ code?: string; message: string; data?: unknown }> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('It did not fail')
}
