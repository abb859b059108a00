import { appendFileSync, chmodSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from '../../src/client/index.ts'
import { type NotesOptions, notesServer } from '../../src/demo/notes/server.ts'
import { REVISIONS } from '../../src/revisions/index.ts'
import { processTarget } from '../../src/stdio/index.ts'
import { type PairOptions, pair, rehearse } from '../../src/testing/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { startServer } from '../support/stdio-process.ts'
import { builtProgram } from './built-program.ts'

const temporary = temporaryFolders()
const versions = REVISIONS.map(({ version }) => version)
const program = builtProgram()

async function started(options: Partial<NotesOptions> = {}, pairing: PairOptions = {}): Promise<Client> {
  const limits = { toolCalls: false } as const
  const server = await notesServer({ folder: join(temporary(), 'notes'), server: { limits, onError: () => {} }, ...options })
  const { client, close } = await pair(server, { cache: false, ...pairing })
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  return client
}

const plain = async (client: Client, tool: string, args: Record<string, unknown>): Promise<string> => {
  const { content } = await client.call(tool, args)
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

const add = async (client: Client, title: string, more: Record<string, unknown> = {}): Promise<{ id: string; revision: number }> =>
  JSON.parse(await plain(client, 'add', { title, text: `About ${title}`, ...more }))

const titles = async (client: Client): Promise<string[]> =>
  JSON.parse(await plain(client, 'list', { limit: 200 })).notes.map(({ title }: { title: string }) => title)

describe.each(versions)('in %s', (revision) => {
  test('notes can be added, found, edited, read, completed, used in prompts and removed', async () => {
    const client = await started({}, { revision })
    const { id } = await add(client, 'Milk', { tags: ['shopping'] })
    await add(client, 'Roof', { tags: ['house', 'urgent'] })
    expect(await plain(client, 'search', { query: 'about MILK' })).toContain(id)
    expect(await plain(client, 'search', { query: 'milk', tag: 'house' })).not.toContain(id)
    await client.call('edit', { id, title: 'Oat milk' })
    expect(await plain(client, 'read', { id })).toContain('# Oat milk')
    expect((await client.read(`note://${id}`)).contents).toMatchObject([
      { mimeType: 'text/markdown', text: '# Oat milk\n\nAbout Milk\n\n#shopping\n' },
    ])
    const ref = { type: 'ref/resource', uri: 'note://{id}' } as const
    expect((await client.complete({ ref, argument: { name: 'id', value: id.slice(0, 3) } })).values).toContain(id)
    const tags = await client.complete({ ref: { type: 'ref/prompt', name: 'weekly-review' }, argument: { name: 'tag', value: 'h' } })
    expect(tags.values).toEqual(['house', 'shopping'])
    const { messages } = await client.prompt('weekly-review', { tag: 'house' })
    expect(messages).toHaveLength(2)
    expect(JSON.stringify((await client.prompt('summarise', { id })).messages)).toContain('Oat milk')
    await client.call('remove', { id })
    expect(await titles(client)).toEqual(['Roof'])
    await expect(client.read(`note://${id}`)).rejects.toThrow('not found')
  })

  test('subscribers are notified of a changed note and of a new note in the list', async () => {
    const client = await started({}, { revision })
    const { id } = await add(client, 'Watched')
    const changes = client.watch(`note://${id}`)
    const next = changes.next()
    const grown = new Promise<void>((resolve) => void client.onChange('resources', resolve))
    const editing = setInterval(() => void client.call('edit', { id, text: `${Math.random()}` }), 50)
    expect((await next).value).toEqual({ uri: `note://${id}` })
    clearInterval(editing)
    await add(client, 'New')
    await grown
    expect((await client.resources().all()).map(({ title, name }) => title ?? name)).toHaveLength(2)
    await changes.return(undefined)
  })

  test('a summary uses the model of the client', async () => {
    const asked: string[] = []
    const client = await started(
      {},
      {
        revision,
        answer: {
          sample: ({ messages }) => {
            asked.push(JSON.stringify(messages))
            return { role: 'assistant', content: { type: 'text', text: 'short' }, model: 'test' }
          },
        },
      },
    )
    await add(client, 'One', { tags: ['x'] })
    await add(client, 'Two')
    expect(await plain(client, 'summarise', { tag: 'x' })).toBe('short')
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain('One')
    expect(asked[0]).not.toContain('Two')
    expect(await plain(await started({}, { revision }), 'summarise', {})).toContain('does not support sampling')
  })
})

test('a summary is completed from the notes that were read in its first round', async () => {
  const server = await notesServer({ folder: join(temporary(), 'notes') })
  onTestFinished(() => server.close())
  const { client, close } = await pair(server)
  await add(client, 'One')
  await close()
  const summary = { role: 'assistant', content: { type: 'text', text: 'short' }, model: 'test' }
  const { rounds, result } = await rehearse(server, 'summarise', {}, { summary })
  expect(rounds).toEqual([['summary']])
  expect(result.content).toEqual([{ type: 'text', text: 'short' }])
})

describe('limits and errors', () => {
  test('an edit with an old revision fails, and a missing note is reported', async () => {
    const client = await started()
    const { id, revision } = await add(client, 'One')
    await client.call('edit', { id, text: 'theirs', revision })
    expect(await plain(client, 'edit', { id, text: 'mine', revision })).toContain('is at revision 2, not 1')
    expect(await plain(client, 'edit', { id })).toContain('expected a title')
    expect(await plain(client, 'remove', { id: 'aaaaaaaaaa' })).toBe('There is no note aaaaaaaaaa')
    expect(await plain(client, 'read', { id: '../x' })).toContain('"../x" is not a note id')
    await expect(client.prompt('summarise', { id: 'x' })).rejects.toThrow('There is no note')
  })

  test('the number and the size of notes are limited', async () => {
    const client = await started({ limits: { maxNotes: 2, maxTextBytes: 10 } })
    await client.call('add', { title: 'a', text: 'x'.repeat(10) })
    expect(await plain(client, 'add', { title: 'b', text: 'x'.repeat(11) })).toContain('maxTextBytes')
    const { id } = await add(client, 'b', { text: '' })
    expect(await plain(client, 'edit', { id, text: 'x'.repeat(11) })).toContain('maxTextBytes')
    expect(await plain(client, 'add', { title: 'c', text: '' })).toContain('maxNotes')
    await client.call('remove', { id })
    expect((await client.call('add', { title: 'c', text: '' })).isError).toBeFalsy()
  })

  test('the total size of all notes is limited, and removing notes makes room', async () => {
    const client = await started({ limits: { maxJournalBytes: 500, maxSnapshotBytes: 2000 } })
    let refused = ''
    const ids: string[] = []
    for (let i = 0; i < 30 && refused === ''; i++) {
      const said = await client.call('add', { title: `${i}`, text: 'x'.repeat(100) }).catch((error: Error) => error)
      if (said instanceof Error) refused = said.message
      else if (said.isError) refused = JSON.stringify(said.content)
      else ids.push((said.structuredContent as { id: string }).id)
    }
    expect(refused).toContain('maxSnapshotBytes')
    for (const id of ids.slice(0, 5)) expect((await client.call('remove', { id })).isError).toBeFalsy()
    expect((await client.call('add', { title: 'again', text: '' })).isError).toBeFalsy()
  })

  test('a folder that other users can read is refused', async () => {
    const folder = join(temporary(), 'open')
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    await expect(notesServer({ folder })).rejects.toMatchObject({ code: 'ERR_STORE' })
  })
})

describe('storage', () => {
  const journalOf = (folder: string): string => join(folder, readdirSync(folder).find((name) => name.startsWith('journal-')) as string)

  test('notes survive a restart, from the snapshot and from the journal', async () => {
    const folder = join(temporary(), 'notes')
    const limits = { maxJournalBytes: 2000 }
    const first = await started({ folder, limits })
    for (let i = 0; i < 30; i++) await add(first, `note ${i}`)
    expect(readdirSync(folder)).toContain('notes.json')
    expect(readdirSync(folder).filter((name) => name.startsWith('journal-'))).toHaveLength(1)
    const second = await started({ folder, limits })
    expect((await titles(second)).sort()).toEqual((await titles(first)).sort())
    expect(await titles(second)).toHaveLength(30)
  })

  test('an incomplete last line is dropped, and later lines are read', async () => {
    const folder = join(temporary(), 'notes')
    await add(await started({ folder }), 'whole')
    for (const rest of ['0123456789abcdef {"put":{"id":"torn', 'deadbeefdeadbeef {"remove":"x"}\n']) {
      appendFileSync(journalOf(folder), rest)
      const client = await started({ folder })
      expect(await titles(client)).not.toContain('torn')
      await add(client, `after ${rest.length}`)
      expect(await titles(await started({ folder }))).toContain(`after ${rest.length}`)
    }
    expect(await titles(await started({ folder }))).toHaveLength(3)
  })

  test('damage in the middle of the journal is an error', async () => {
    const folder = join(temporary(), 'notes')
    const client = await started({ folder })
    await add(client, 'one')
    await add(client, 'two')
    const lines = readFileSync(journalOf(folder), 'utf8')
    writeFileSync(journalOf(folder), lines.replace('About one', 'About eno'))
    await expect(notesServer({ folder })).rejects.toThrow('damaged at byte 0')
    truncateSync(journalOf(folder), 10)
    expect((await client.call('add', { title: 'x', text: '' })).isError).toBe(true)
  })

  test('two servers share a folder and see the changes of each other', async () => {
    const folder = join(temporary(), 'notes')
    const limits = { maxJournalBytes: 3000 }
    const clients = await Promise.all([started({ folder, limits }), started({ folder, limits })])
    const [one, two] = clients as [Client, Client]
    const grown = new Promise<void>((resolve) => void two.onChange('resources', resolve))
    await two.ping()
    await Promise.all(clients.flatMap((client, i) => Array.from({ length: 20 }, (_, j) => add(client, `${i}-${j}`))))
    await grown
    for (const client of clients) expect(await titles(client)).toHaveLength(40)
    const { id } = await add(one, 'shared')
    await two.call('edit', { id, text: 'by two' })
    expect(await plain(one, 'read', { id })).toContain('by two')
  })

  test('no acknowledged note is lost when the process is killed 20 times', async () => {
    const folder = join(temporary(), 'notes')
    const acknowledged = new Set<string>()
    let sent = 0
    for (let kill = 0; kill < 20; kill++) {
      const server = startServer(program(), [
        'notes',
        JSON.stringify({ folder, limits: { maxJournalBytes: 4000 }, server: { limits: { toolCalls: false } } }),
      ])
      await server.initialize()
      const until = 1 + Math.floor(Math.random() * 12)
      const pending: Promise<unknown>[] = []
      const enough = new Promise<void>((resolve) => {
        let answered = 0
        for (let i = 0; i < 30; i++) {
          const title = `note ${sent++}`
          const asked = server.ask('tools/call', { name: 'add', arguments: { title, text: 'x'.repeat(200) } })
          pending.push(
            asked.then(({ result }) => {
              if (result?.isError) throw new Error(JSON.stringify(result))
              acknowledged.add(title)
              if (++answered === until) resolve()
            }),
          )
        }
      })
      await Promise.race([enough, Promise.all(pending)])
      server.child.kill('SIGKILL')
      await Promise.allSettled(pending)
      await server.exit
    }
    const there = new Set<string>()
    const client = await started({ folder })
    for (let offset = 0; ; offset += 200) {
      const { notes } = JSON.parse(await plain(client, 'list', { limit: 200, offset })) as { notes: { title: string }[] }
      for (const { title } of notes) there.add(title)
      if (notes.length < 200) break
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(20)
    expect([...acknowledged].filter((title) => !there.has(title))).toEqual([])
  }, 120_000)

  test('two processes use one folder at the same time', async () => {
    const folder = join(temporary(), 'notes')
    const client = await Client.connect(
      processTarget({ command: process.execPath, args: [program(), 'notes', JSON.stringify({ folder })] }),
    )
    await client.call('add', { title: 'theirs', text: '' })
    const own = await started({ folder })
    await add(own, 'mine')
    expect((await titles(client)).sort()).toEqual(['mine', 'theirs'])
    await client.close()
  })
})
