/** Published servers get no warnings: false alarms teach people to ignore warnings. */

import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { hosts, person, started } from '../hosts.ts'

const { folder, host: startHost } = hosts()

const published = (name: string): string =>
  fileURLToPath(new URL(`../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url))

test('the published servers for everything, files and memory are in use together without a warning', async () => {
  const you = person()
  const host = await startHost({
    ask: you,
    servers: {
      everything: started(published('everything')),
      filesystem: started(published('filesystem'), {}, [folder()]),
      memory: started(published('memory')),
    },
  })
  expect(you.saw('approve').flatMap(({ items }) => items.flatMap(({ name, flags }) => flags.map((flag) => `${name}: ${flag}`)))).toEqual([])
  const enabled = host.events.flatMap((event) => (event.kind === 'enabled' ? [event] : []))
  expect(enabled.map(({ server, held }) => [server, held]).sort()).toEqual([
    ['everything', 0],
    ['filesystem', 0],
    ['memory', 0],
  ])
})
