/** Ordinary stories with their limits. Each uses real servers: processes, HTTP, and a published server. */

import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { Conversation, type Host } from '../../src/host/index.ts'
import { listen } from '../../src/http/index.ts'
import { createServer, type Server } from '../../src/server/index.ts'
import { calling, chat, says, script, spy, started, textOf } from '../host/hosts.ts'
import type { Story } from './story.ts'

const EVERYTHING = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url))

/** The published reference server, as a process. */
const published = () => started(EVERYTHING)

const NOTES = `
const server = createServer({ name: 'notes', version: '1' })
const notes = []
server.tool('add', { input: { type: 'object', properties: { text: { type: 'string' } } } }, ({ text }) => \`note \${notes.push(text)}\`)
server.tool('list', { annotations: { readOnlyHint: true } }, () => notes.join(', ') || 'no notes')
server.tool('remove', { annotations: { destructiveHint: true }, input: { type: 'object', properties: { text: { type: 'string' } } } },
  ({ text }) => \`removed \${text}\`)
await serveStdio(server)
`

/** One model turn that calls a tool, and one that ends. */
const callsIn = (...calls: [name: string, args?: Record<string, unknown>][]) =>
  spy(...calls.map(([name, args]) => [calling(name, args)]), [says('Done.')])

async function chatWith(host: Host, conversation: Conversation, model: ReturnType<typeof spy>): Promise<string> {
  const parts = await chat(host, 'Please do it', { conversation, model })
  return JSON.stringify(parts)
}

async function overHttp<T>(server: Server, use: (url: string) => Promise<T>): Promise<T> {
  const { url, close } = await listen(server, { port: 0, handleSignals: false })
  try {
    return await use(url)
  } finally {
    await close()
    await server.close()
  }
}

const at = (url: string) => ({ tier: 'untrusted', provenance: [], transport: { type: 'http', url, headers: {} } }) as const

export const EVERYDAY: readonly Story[] = [
  {
    title: 'Enable a published server and call a read-only tool five times',
    maxQuestions: 2,
    maxLines: 12,
    run: async ({ start }) => {
      const host = await start({ servers: { everything: published() } })
      for (let i = 1; i <= 5; i++)
        expect(textOf(await host.call({ server: 'everything', name: 'echo' }, { message: `hello ${i}` }))).toContain(`hello ${i}`)
    },
  },
  {
    title: 'Start with six configured servers and use none of them',
    maxQuestions: 0,
    maxLines: 0,
    run: async ({ start, folder }) => {
      const file = script(folder, NOTES)
      const host = await start({ servers: Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`server${n}`, started(file, {}, [`${n}`])])) })
      expect(Object.keys(host.health())).toHaveLength(6)
    },
  },
  {
    title: 'Enable four servers after a first import, and start them again the next day',
    maxQuestions: 1,
    maxLines: 20,
    run: async ({ start, stop, folder }) => {
      const ids = ['files', 'git', 'mail', 'notes']
      const servers = Object.fromEntries(
        ids.map((id) => [
          id,
          started(
            script(
              folder,
              `${NOTES.replaceAll("'list'", `'${id}_list'`).replaceAll(/'(?:add|remove)'/g, (name) => `'${id}_${name.slice(1)}`)}`,
              `${id}.mjs`,
            ),
          ),
        ]),
      )
      const host = await start({ servers })
      expect(await host.enableAll(ids)).toEqual(ids.map((server) => ({ server })))
      expect(host.tools().map(({ server }) => server)).toEqual(expect.arrayContaining(ids))
      await stop()
      const later = await start({ servers })
      expect(Object.values(later.health()).map(({ state }) => state)).toEqual(ids.map(() => 'ready'))
    },
  },
  {
    title: 'Start the next day with two servers that you enabled, and make the same calls',
    maxQuestions: 4,
    maxLines: 24,
    run: async ({ start, stop, folder, person }) => {
      const file = script(folder, NOTES)
      const other = script(
        folder,
        NOTES.replaceAll("'notes'", "'tasks'").replaceAll("'list'", "'due'").replace("'add'", "'plan'").replace("'remove'", "'drop'"),
        'tasks.mjs',
      )
      const servers = { notes: started(file, { tier: 'trusted' }), tasks: started(other, { tier: 'trusted' }) }
      const day = async (): Promise<void> => {
        const host = await start({ servers })
        const conversation = new Conversation()
        await host.call({ server: 'notes', name: 'list' }, {}, { conversation })
        await host.call({ server: 'tasks', name: 'due' }, {}, { conversation })
        await stop()
      }
      await day()
      const first = person.questions.length
      await day()
      expect(person.questions.length - first, 'questions of the second day').toBe(0)
    },
  },
  {
    title: 'Chat with a model that makes five calls of two tools',
    maxQuestions: 3,
    maxLines: 18,
    run: async ({ start, folder }) => {
      const model = callsIn(
        ['notes__add', { text: 'milk' }],
        ['notes__add', { text: 'bread' }],
        ['notes__list'],
        ['notes__add', { text: 'salt' }],
        ['notes__list'],
      )
      const host = await start({ servers: { notes: started(script(folder, NOTES), { tier: 'trusted' }) }, model })
      await host.call({ server: 'notes', name: 'list' }, {})
      expect(await chatWith(host, new Conversation(), model)).toContain('milk, bread, salt')
    },
  },
  {
    // A connection, a call, the changed tool, and its first call after the change.
    title: 'Update a server that changes one description',
    maxQuestions: 4,
    maxLines: 24,
    run: async ({ start, stop }) => {
      const server = (description: string): Server => {
        const made = createServer({ name: 'mail', version: '1' })
        made.tool('send', { description }, () => 'sent')
        return made
      }
      // The same address with a new version behind it.
      const { url, close } = await listen(server('Sends a mail'), { port: 0, handleSignals: false })
      const host = await start({ servers: { mail: at(url) } })
      expect(textOf(await host.call({ server: 'mail', name: 'send' }, {}))).toBe('sent')
      await stop()
      await close()
      await listen(server('Sends a mail to one person'), { port: Number(new URL(url).port), handleSignals: false }).then(async (next) => {
        const later = await start({ servers: { mail: at(url) } })
        expect(textOf(await later.call({ server: 'mail', name: 'send' }, {}))).toBe('sent')
        await stop()
        await next.close()
      })
    },
  },
  {
    title: 'Connect to a server at an address and call it twice',
    maxQuestions: 2,
    maxLines: 12,
    run: async ({ start }) => {
      const server = createServer({ name: 'weather', version: '1' })
      server.tool('today', { annotations: { readOnlyHint: true } }, () => 'sunny')
      await overHttp(server, async (url) => {
        const host = await start({ servers: { weather: at(url) } })
        for (let i = 0; i < 2; i++) expect(textOf(await host.call({ server: 'weather', name: 'today' }, {}))).toBe('sunny')
      })
    },
  },
  {
    title: 'Use servers in your own process',
    maxQuestions: 1,
    maxLines: 6,
    run: async ({ start }) => {
      const server = createServer({ name: 'mine', version: '1' })
      server.tool('look', { annotations: { readOnlyHint: true } }, () => 'seen')
      const host = await start({ servers: { mine: server } })
      for (const as of ['person', 'person', 'person', 'model'] as const)
        expect(textOf(await host.call({ server: 'mine', name: 'look' }, {}, { as }))).toBe('seen')
    },
  },
  {
    title: 'Fill in a form that a tool shows',
    maxQuestions: 2,
    maxLines: 14,
    run: async ({ start }) => {
      const server = createServer({ name: 'travel', version: '1' })
      server.tool('book', {}, async (_, ctx) => {
        const answer = await ctx.elicit('class', 'Which class?', {
          type: 'object',
          properties: { class: { type: 'string', enum: ['first', 'second'], default: 'second' } },
        })
        return JSON.stringify(answer)
      })
      const host = await start({ servers: { travel: server } })
      expect(textOf(await host.call({ server: 'travel', name: 'book' }, {}))).toContain('second')
    },
  },
  {
    title: 'Delete two things with a destructive tool, one of them twice',
    maxQuestions: 3,
    maxLines: 18,
    run: async ({ start, folder }) => {
      const host = await start({ servers: { notes: started(script(folder, NOTES), { tier: 'trusted' }) } })
      const conversation = new Conversation()
      for (const text of ['a', 'b', 'a'])
        expect(textOf(await host.call({ server: 'notes', name: 'remove' }, { text }, { conversation }))).toBe(`removed ${text}`)
    },
  },
  {
    title: 'Say no to a server, and go on working with another one',
    maxQuestions: 3,
    maxLines: 18,
    run: async ({ start, folder, person }) => {
      person.deny('bad')
      const file = script(folder, NOTES)
      const host = await start({ servers: { bad: started(file, {}, ['bad']), notes: started(file, { tier: 'trusted' }) } })
      for (let i = 0; i < 3; i++) await expect(host.call({ server: 'bad', name: 'list' }, {})).rejects.toThrow(/you said no|denied/)
      expect(textOf(await host.call({ server: 'notes', name: 'list' }, {}, {}))).toBe('no notes')
    },
  },
]
