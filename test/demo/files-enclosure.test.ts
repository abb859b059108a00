import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client } from '../../src/client/index.ts'
import { HeldFolder } from '../../src/demo/files/held-folder.ts'
import { type FilesOptions, filesServer } from '../../src/demo/files/server.ts'
import { pair } from '../../src/testing/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'

const temporary = temporaryFolders()

const SECRET = 'the secret of another user'

interface Scene {
  base: string
  work: string
  outside: string
}

/** An allowed folder `work`, next to folders that are not allowed. */
function scene(): Scene {
  const base = temporary()
  const [work, outside] = [join(base, 'work'), join(base, 'outside')]
  for (const folder of [work, outside, join(base, 'work2'), join(work, 'docs')]) mkdirSync(folder)
  writeFileSync(join(work, 'docs', 'a.txt'), 'mine\n')
  for (const folder of [outside, join(base, 'work2')]) writeFileSync(join(folder, 'a.txt'), SECRET)
  return { base, work, outside }
}

async function clientOf(options: FilesOptions): Promise<Client> {
  const server = await filesServer(options)
  const { client, close } = await pair(server)
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  return client
}

const said = async (client: Client, tool: string, args: Record<string, unknown>): Promise<{ isError: boolean; text: string }> => {
  const { content, isError } = await client.call(tool, args)
  return { isError: isError === true, text: JSON.stringify(content) }
}

describe('nothing outside the folder is read, written, listed or removed', () => {
  const traps: Record<string, (here: Scene) => string> = {
    'a sibling folder with the same prefix': ({ base }) => join(base, 'work2', 'a.txt'),
    'a parent segment': () => '../outside/a.txt',
    'parent segments after a folder': () => 'docs/../../outside/a.txt',
    'an absolute path': ({ outside }) => join(outside, 'a.txt'),
    'an absolute path with parent segments': ({ work }) => `${work}/../outside/a.txt`,
    'encoded dots': () => '%2e%2e/outside/a.txt',
    'a NUL character': ({ work }) => `${work}/docs/a.txt\0/../../outside/a.txt`,
    '/proc/self/root': ({ outside }) => `/proc/self/root${outside}/a.txt`,
    '/proc/self/cwd': () => '/proc/self/cwd/package.json',
    'a link to a file': ({ work, outside }) => {
      symlinkSync(join(outside, 'a.txt'), join(work, 'link'))
      return 'link'
    },
    'a link to a folder': ({ work, outside }) => {
      symlinkSync(outside, join(work, 'linked'))
      return 'linked/a.txt'
    },
    'a relative link': ({ work }) => {
      symlinkSync('../outside', join(work, 'relative'))
      return 'relative/a.txt'
    },
    'a chain of links': ({ work, outside }) => {
      symlinkSync(outside, join(work, 'one'))
      symlinkSync('one', join(work, 'two'))
      symlinkSync('../two', join(work, 'docs', 'three'))
      return 'docs/three/a.txt'
    },
    'a hard link': ({ work, outside }) => {
      linkSync(join(outside, 'a.txt'), join(work, 'hard'))
      return 'hard'
    },
    'a link to /proc/self/root': ({ work }) => {
      symlinkSync('/proc/self/root', join(work, 'root'))
      return `root${work}/../outside/a.txt`
    },
  }
  for (const [name, trap] of Object.entries(traps)) {
    test(`${name} does not leave the folder`, async () => {
      proves('T-ROOT-022')
      const here = scene()
      const path = trap(here)
      const client = await clientOf({ folders: [here.work] })
      const hash = '0'.repeat(64)
      for (const [tool, args] of [
        ['read', { path }],
        ['write', { path, content: 'overwritten', overwrite: true, createFolders: true }],
        ['write', { path, content: 'overwritten', hash }],
        ['edit', { path, edits: [{ old: 'secret', new: 'x' }] }],
        ['move', { from: path, to: 'docs/stolen.txt' }],
        ['move', { from: 'docs/a.txt', to: path, overwrite: true }],
      ] as const) {
        const { isError, text } = await said(client, tool, args)
        // "%2e%2e" is an ordinary file name within the folder, so writing to it is allowed.
        if (!(path.startsWith('%') && tool !== 'read')) expect({ tool, isError }).toEqual({ tool, isError: true })
        expect(text).not.toContain(SECRET)
      }
      await said(client, 'remove', { path, recursive: true })
      expect(readFileSync(join(here.outside, 'a.txt'), 'utf8')).toBe(SECRET)
      expect(readFileSync(join(here.base, 'work2', 'a.txt'), 'utf8')).toBe(SECRET)
      const found = await said(client, 'search', { query: 'secret' })
      expect(found.text).toContain('"text"')
      expect(found.text).not.toContain(SECRET)
      const uri = path.includes('\0') ? 'file:///a%00b' : pathToFileURL(path.startsWith('/') ? path : join(here.work, path)).href
      await expect(client.read(uri)).rejects.toThrow(/not found|not a URI|no resource/i)
    })
  }

  test('a new file below a linked folder is not created', async () => {
    const { work, outside } = scene()
    symlinkSync(outside, join(work, 'linked'))
    const client = await clientOf({ folders: [work] })
    for (const args of [{}, { createFolders: true }, { overwrite: true }]) {
      const { isError } = await said(client, 'write', { path: 'linked/new.txt', content: 'x', ...args })
      expect(isError).toBe(true)
    }
    const { isError } = await said(client, 'write', { path: 'linked/deep/new.txt', content: 'x', createFolders: true })
    expect(isError).toBe(true)
    expect(() => readFileSync(join(outside, 'new.txt'))).toThrow('ENOENT')
    expect(() => readFileSync(join(outside, 'deep', 'new.txt'))).toThrow('ENOENT')
  })

  test('removing a folder removes the links in it and not their targets', async () => {
    const { work, outside } = scene()
    symlinkSync(outside, join(work, 'docs', 'linked'))
    const client = await clientOf({ folders: [work] })
    const { text } = await said(client, 'remove', { path: 'docs', recursive: true })
    expect(text).toContain('docs was removed, with 2 entries')
    mkdirSync(join(work, 'one'))
    writeFileSync(join(work, 'one', 'a.txt'), 'x')
    expect((await said(client, 'remove', { path: 'one' })).text).toContain('one is a folder with 1 entry;')
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe(SECRET)
  })

  test('a special file is not opened and does not block', async () => {
    const { work } = scene()
    execFileSync('/usr/bin/env', ['mkfifo', join(work, 'pipe')])
    const client = await clientOf({ folders: [work] })
    expect(await said(client, 'read', { path: 'pipe' })).toMatchObject({ isError: true })
    expect(await said(client, 'read', { path: 'docs' })).toMatchObject({ isError: true })
    await said(client, 'search', { query: 'x' })
  })

  test('errors name paths as the caller sees them, not the real ones', async () => {
    const { base, work } = scene()
    const client = await clientOf({ folders: [work] })
    for (const path of ['docs/none.txt', 'none/none.txt', 'docs/a.txt/x', 'docs'])
      expect((await said(client, 'read', { path })).text).not.toContain(base)
  })
})

/** Runs a script in a loop, which swaps a link in and out as fast as possible. */
function swapper(script: string): Worker {
  const worker = new Worker(
    `const fs = require('node:fs'); const { workerData: d, parentPort } = require('node:worker_threads'); parentPort.postMessage('on'); for (;;) { ${script} }`,
    {
      eval: true,
      workerData: undefined,
    },
  )
  onTestFinished(async () => void (await worker.terminate()))
  return worker
}

describe('1,000 races between check and use', () => {
  for (const byPath of [false, true]) {
    const how = byPath ? 'by path' : 'through handles'
    test(`nothing is read through a folder that is replaced by a link (${how})`, async () => {
      const { base, work, outside } = scene()
      const [docs, aside, trap] = [join(work, 'docs'), join(base, 'aside'), join(base, 'trap')].map((path) => JSON.stringify(path))
      symlinkSync(outside, join(base, 'trap'))
      const swap = `try { fs.renameSync(${docs}, ${aside}); fs.renameSync(${trap}, ${docs}); fs.renameSync(${docs}, ${trap}); fs.renameSync(${aside}, ${docs}) } catch {}`
      const worker = swapper(swap)
      await new Promise((resolve) => worker.once('message', resolve))
      const seen = { mine: 0, refused: 0 }
      for (let i = 0; i < 1000; i++) {
        try {
          const folder = await HeldFolder.open(work, ['docs'], { byPath })
          try {
            const { handle } = await folder.openFile('a.txt')
            const text = await handle.readFile('utf8').finally(() => handle.close())
            expect(text).toBe('mine\n')
            seen.mine++
          } finally {
            await folder.close()
          }
        } catch (error) {
          if ((error as Error).name === 'AssertionError') throw error
          seen.refused++
        }
      }
      expect(seen.mine + seen.refused).toBe(1000)
    }, 60_000)

    test(`nothing is read through a file that is replaced by a link (${how})`, async () => {
      const { base, work, outside } = scene()
      writeFileSync(join(work, 'b.txt'), 'mine\n')
      const [file, link, plain] = [join(work, 'b.txt'), join(base, 'link'), join(base, 'plain')].map((path) => JSON.stringify(path))
      const target = JSON.stringify(join(outside, 'a.txt'))
      const worker = swapper(
        `try { fs.symlinkSync(${target}, ${link}); fs.renameSync(${link}, ${file}); fs.writeFileSync(${plain}, 'mine\\n'); fs.renameSync(${plain}, ${file}) } catch {}`,
      )
      await new Promise((resolve) => worker.once('message', resolve))
      const read = async (): Promise<string | undefined> => {
        const folder = await HeldFolder.open(work, [], { byPath })
        const opened = await folder.openFile('b.txt').catch(() => undefined)
        const text = await opened?.handle.readFile('utf8')
        await opened?.handle.close()
        await folder.close()
        return text
      }
      for (let i = 0; i < 1000; i++) expect((await read()) ?? 'mine\n').toBe('mine\n')
      await worker.terminate()
      rmSync(join(work, 'b.txt'), { force: true })
      writeFileSync(join(work, 'b.txt'), 'mine\n')
      expect(await read()).toBe('mine\n')
    }, 60_000)
  }

  test('nothing is written through a folder that is replaced by a link', async () => {
    const { base, work, outside } = scene()
    const [docs, aside, trap] = [join(work, 'docs'), join(base, 'aside'), join(base, 'trap')].map((path) => JSON.stringify(path))
    symlinkSync(outside, join(base, 'trap'))
    const client = await clientOf({ folders: [work], server: { limits: { toolCalls: false } } })
    const worker = swapper(
      `try { fs.renameSync(${docs}, ${aside}); fs.renameSync(${trap}, ${docs}); fs.renameSync(${docs}, ${trap}); fs.renameSync(${aside}, ${docs}) } catch {}`,
    )
    await new Promise((resolve) => worker.once('message', resolve))
    for (let i = 0; i < 300; i++) {
      await client.call('write', { path: 'docs/a.txt', content: `${i}`, overwrite: true })
      await client.call('write', { path: `docs/new/${i}.txt`, content: `${i}`, createFolders: true })
    }
    await worker.terminate()
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe(SECRET)
    expect(() => readFileSync(join(outside, 'new'))).toThrow('ENOENT')
  }, 60_000)
})

test('a held folder that is moved out of the root is detected', async () => {
  const { base, work } = scene()
  const held = await HeldFolder.open(work, ['docs'])
  renameSync(join(work, 'docs'), join(base, 'away'))
  await expect(held.check()).rejects.toThrow('moved')
  await expect(held.openFile('a.txt')).rejects.toThrow('moved')
  await held.close()
})
