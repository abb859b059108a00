import { expect, test } from 'vitest'
import type { Client } from '../../src/client/index.ts'
import { deployServer } from '../../src/reference/index.ts'
import { REVISIONS } from '../../src/revisions/index.ts'
import { pair } from '../../src/testing/index.ts'

const versions = REVISIONS.map(({ version }) => version)
const WISH = { service: 'api', version: '1.4.0', environment: 'staging' }

const status = async (client: Client) => {
  const { contents } = await client.read('deploy://status')
  return JSON.parse((contents[0] as { text: string }).text) as {
    environments: Record<string, Record<string, string>>
    running: unknown[]
    past: { outcome: string; step?: string; reason?: string }[]
  }
}

test.each(versions)('a plan does nothing, a deployment goes through its steps, a rollback undoes it (%s)', async (revision) => {
  const server = deployServer({ stepMs: 1 })
  const { client, close } = await pair(server, { revision, cache: false })
  const plan = await client.call<{ steps: string[]; from: string }>('plan', WISH)
  expect(JSON.stringify(plan.content)).toContain('1.0.0')
  expect(server.effects).toBe(0)
  const seen: number[] = []
  await client.call('deploy', { ...WISH, reason: 'a fix' }, { onProgress: ({ progress }) => seen.push(progress) })
  expect(server.effects).toBe(6)
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect((await status(client)).environments.staging?.api).toBe('1.4.0')
  await client.call('rollback', { service: 'api', environment: 'staging' })
  const { environments, past } = await status(client)
  expect(environments.staging?.api).toBe('1.0.0')
  expect(past.map(({ outcome }) => outcome)).toEqual(['rolled back', 'deployed'])
  const again = await client.call('rollback', { service: 'web', environment: 'staging' })
  expect(again.isError).toBe(true)
  await close()
})
