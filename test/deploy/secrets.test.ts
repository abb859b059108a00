/** The commands on the page make the secrets that the compose file needs. */

import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { parseDocument } from 'yaml'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { redis } from '../../src/redis/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { INSTALL_MS, installPrograms } from '../support/packages.ts'
import { startRedis } from '../support/redis-server.ts'

const newFolder = temporaryFolders()
vi.setConfig({ testTimeout: 30_000 + INSTALL_MS })

const page = readFileSync(`${root}/docs/deployment.md`, 'utf8')
const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
  .map(([, text]) => text as string)
  .find((text) => text.includes('redis-users'))

test('the commands of the page make all secrets, and a user of Redis that only the replicas can use', async () => {
  installPrograms({ openssl: 'openssl' })
  const folder = newFolder()
  execFileSync('sh', ['-euc', `mkdir deploy; ${commands}`], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const { secrets, services } = parseDocument(readFileSync(`${root}/deploy/compose.yaml`, 'utf8'), { merge: true }).toJS()
  for (const { file } of Object.values(secrets) as { file: string }[]) expect(existsSync(join(folder, 'deploy', file)), file).toBe(true)
  const made = (name: string): string => readFileSync(`${folder}/deploy/secrets/${name}`, 'utf8')
  expect(new X509Certificate(made('tls.crt')).checkHost('mcp.yours.example')).toBe('mcp.yours.example')

  expect(services.redis.command.slice(-2)).toEqual(['--aclfile', '/run/secrets/redis_users'])
  const server = await startRedis(['--aclfile', `${folder}/deploy/secrets/redis-users`])
  onTestFinished(() => server.close())
  // The health check asks without a password.
  expect(services.redis.healthcheck.test).toEqual(['CMD', 'redis-cli', 'ping'])
  expect(await server.cli('ping')).toBe('PONG')
  for (const words of [['GET', 'portico:x'], ['INFO'], ['ACL', 'LIST'], ['CONFIG', 'GET', 'port']])
    expect(await server.cli(...words), words.join(' ')).toContain('NOPERM')
  const store = redis(made('store').trim().replace('redis:6379', `127.0.0.1:${server.port}`))
  onTestFinished(() => store.close())
  await store.counters.put('x', 'value', 1000)
  expect(await store.counters.kept('x')).toBe('value')
})

test('the user has the rights that the page about Redis gives', () => {
  const rightsIn = (text = ''): string | undefined => /^user portico on >\S+ (.+)$/m.exec(text)?.[1]
  expect(rightsIn(commands)).toBeDefined()
  expect(rightsIn(commands)).toBe(rightsIn(readFileSync(`${root}/docs/redis.md`, 'utf8')))
})
