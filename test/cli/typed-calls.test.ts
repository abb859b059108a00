/** What the person types is the act of the person: it needs no question, and the audit log says so. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readAudit } from '../../src/host/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { portico, serve } from './support/cli.ts'

const newFolder = temporaryFolders()

const ALLOW = `rules:
  - { id: launch, effect: allow, match: { action: server.launch, server: ev } }
  - { id: approve, effect: allow, match: { action: server.approve, server: ev } }
`

test('typed calls, reads and prompts are recorded as the act of the person and need no question', async () => {
  const home = newFolder()
  const env = { HOME: home, PORTICO_HOME: join(home, 'host') }
  const run = (...args: string[]) => portico(args, { env, cwd: home })
  await run('servers', 'add', 'ev', '--trusted', ...serve('everything'))
  writeFileSync(join(env.PORTICO_HOME, 'policy.yaml'), ALLOW)
  for (const args of [
    ['call', 'ev/test_simple_text'],
    ['call', 'ev__test_simple_text'],
    ['call', 'test_simple_text'],
    ['read', 'ev', 'test://static-text'],
    ['get', 'ev/test_simple_prompt'],
  ])
    expect(await run(...args), args.join(' ')).toMatchObject({ code: 0 })
  const initiators: Record<string, string> = {}
  for await (const record of readAudit(join(env.PORTICO_HOME, 'audit')))
    if (record.kind === 'intent') initiators[record.entry.action] = record.entry.initiator
  expect(initiators).toMatchObject({ 'tool.call': 'user', 'resource.read': 'user', 'prompt.get': 'user' })
}, 60_000)
