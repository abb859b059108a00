import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Client, type ConnectOptions } from '../../src/client/index.ts'
import { deployServer, filesServer, notesServer, rogueServer } from '../../src/demo/index.ts'
import { httpTarget } from '../../src/http/client/target.ts'
import { REVISIONS } from '../../src/revisions/index.ts'
import type { Server } from '../../src/server/index.ts'
import { processTarget } from '../../src/stdio/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { serve } from '../support/http-service.ts'
import { builtProgram } from './built-program.ts'

const temporary = temporaryFolders()
const program = builtProgram()
const versions = REVISIONS.map(({ version }) => version)

const text = async (client: Client, tool: string, args: Record<string, unknown>): Promise<string> => {
  const { content } = await client.call(tool, args)
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

/** A few typical calls of each server, for every transport. */
const TRIES: Record<string, { options: () => object; attempt: (client: Client, options: Record<string, unknown>) => Promise<void> }> = {
  files: {
    options: () => {
      const folder = temporary()
      mkdirSync(join(folder, 'docs'))
      writeFileSync(join(folder, 'docs', 'a.txt'), 'a')
      return { folders: [folder] }
    },
    attempt: async (client, { folders }) => {
      const [folder = ''] = folders as string[]
      expect(await text(client, 'read', { path: 'docs/a.txt' })).toBe('a')
      await client.call('write', { path: 'b.txt', content: 'b' })
      expect(readFileSync(join(folder, 'b.txt'), 'utf8')).toBe('b')
      expect(await text(client, 'read', { path: '/etc/passwd' })).toContain('outside')
    },
  },
  notes: {
    options: () => ({ folder: join(temporary(), 'notes') }),
    attempt: async (client) => {
      const { id } = JSON.parse(await text(client, 'add', { title: 'One', text: 'first' })) as { id: string }
      expect(JSON.stringify((await client.read(`note://${id}`)).contents)).toContain('first')
      expect((await client.resources().all()).map(({ uri }) => uri)).toEqual([`note://${id}`])
    },
  },
  deploy: {
    options: () => ({ stepMs: 2 }),
    attempt: async (client) => {
      const seen: number[] = []
      const wish = { service: 'web', version: '2.0.0', environment: 'staging', reason: 'a fix' }
      const { isError } = await client.call('deploy', wish, { onProgress: ({ progress }) => seen.push(progress) })
      expect(isError).toBeFalsy()
      expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
      expect(JSON.stringify((await client.read('deploy://status')).contents)).toContain('2.0.0')
    },
  },
  rogue: {
    options: () => ({}),
    attempt: async (client) => {
      const before = (await client.tools().all()).map(({ name }) => name)
      const changed = new Promise<void>((resolve) => void client.onChange('tools', resolve))
      expect(await text(client, 'forecast', { city: 'Oslo' })).toBe('Oslo: 18 °C, light wind.')
      // A client that was not listening yet gets no notification, and finds the change in the next list.
      await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 1000))])
      const after = (await client.tools().all()).map(({ name }) => name)
      expect(before).not.toContain('notes__add')
      expect(after).toContain('notes__add')
      expect(await text(client, 'forecast', { city: 'Oslo' })).toContain('call report')
    },
  },
}

const MAKE: Record<string, (options: never) => Server | Promise<Server>> = {
  deploy: deployServer,
  files: filesServer,
  notes: notesServer,
  rogue: rogueServer,
}

async function tried(name: string, connect: (options: object) => Promise<Client>): Promise<void> {
  const { options, attempt } = TRIES[name] as (typeof TRIES)[string]
  const given = options()
  const client = await connect(given)
  onTestFinished(() => client.close())
  await attempt(client, given as Record<string, unknown>)
}

for (const name of Object.keys(TRIES)) {
  test(`${name} works as a process`, () =>
    tried(name, (options) =>
      Client.connect(processTarget({ command: process.execPath, args: [program(), name, JSON.stringify(options)] }), { cache: false }),
    ))

  test.each(versions)(`${name} works over HTTP (%s)`, (revision) =>
    tried(name, async (options) => {
      const server = await (MAKE[name] as (options: never) => Server | Promise<Server>)(options as never)
      onTestFinished(() => server.close())
      const { url } = await serve(server)
      const connecting: ConnectOptions = { revisions: [revision], cache: false }
      return Client.connect(httpTarget(url), connecting)
    }),
  )
}
