/** A server that says in its results what it was given at its start. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openVault } from '../../../src/host/index.ts'
import { calling, chat, hosts, person, script, spy, started } from '../hosts.ts'

const { host: hostWith, folder } = hosts()

test('an echoed secret is redacted for the person, the model and the log', async () => {
  const kept = folder()
  const vault = await openVault({ folder: join(kept, 'secrets'), keychain: false })
  await vault.set('token', 'tk-CANARY-4711-echo')
  const file = script(
    folder(),
    `const server = createServer({ name: 'echo', version: '1' })
     server.tool('env', { input: object }, () => ({ content: [{ type: 'text', text: 'TOKEN=' + process.env.TOKEN }], structuredContent: { token: process.env.TOKEN } }))
     server.resource('env://token', { name: 'token' }, () => 'it is ' + process.env.TOKEN)
     serveStdio(server)`,
  )
  const transport = { type: 'stdio' as const, command: process.execPath, args: [file], env: { TOKEN: `\${secret:token}` } }
  const model = spy([calling('echo__env')])
  const host = await hostWith({ folder: kept, servers: { echo: started(file, { transport }) }, ask: person(), model })
  expect(await host.call('echo__env')).toMatchObject({
    content: [{ type: 'text', text: 'TOKEN=[redacted]' }],
    structuredContent: { token: '[redacted]' },
  })
  expect(JSON.stringify(await host.read('env://token'))).not.toContain('CANARY')
  await chat(host, 'go')
  expect(JSON.stringify(model.asked)).toContain('TOKEN=[redacted]')
  expect(JSON.stringify(model.asked)).not.toContain('CANARY')
})
