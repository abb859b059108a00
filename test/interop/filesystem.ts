/** Our client and the reference server for files. */

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { proves } from '../support/proves.ts'
import { testCapabilityLacks } from './absence.ts'
import type { Feature, Matrix } from './matrix.ts'
import { type Connected, connectOurClient, contentOf, type ServerProcess, textOf } from './our-client.ts'

const PEER = 'filesystem'

export const filesystemServer = (folder: string): ServerProcess => ({
  args: [fileURLToPath(new URL('../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js', import.meta.url)), folder],
})

const PNG = Buffer.from('iVBORw0KGgo=', 'base64')

export function describeFilesystem(matrix: Matrix): void {
  describe('our client and the reference server filesystem', () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'portico-files-')))
    const [one, two] = [join(folder, 'one'), join(folder, 'two')]
    let connected: Connected
    let client: Client
    let listsChanged = 0
    let progressHeard = 0
    beforeAll(async () => {
      mkdirSync(one)
      mkdirSync(two)
      writeFileSync(join(one, 'notes.txt'), 'first\nsecond\nthird')
      writeFileSync(join(one, 'pixel.png'), PNG)
      writeFileSync(join(one, 'silence.wav'), 'RIFF')
      writeFileSync(join(one, 'data.bin'), Buffer.from([0, 1, 2]))
      writeFileSync(join(two, 'other.txt'), 'elsewhere')
      connected = await connectOurClient(filesystemServer(one), { roots: [pathToFileURL(one).href] })
      client = connected.client
      await client.onChange('tools', () => listsChanged++)
    })
    afterAll(async () => {
      await client.close()
      rmSync(folder, { recursive: true })
    })
    const testWorks = (feature: Feature, name: string, run: () => Promise<void>): void => matrix.testWorks(PEER, feature, name, run)
    const text = (name: string, args?: Record<string, unknown>): Promise<string> => textOf(client, name, args)
    const notes = join(one, 'notes.txt')

    test('our client and the reference server filesystem agree on the newest revision with a handshake', () => {
      expect(client.revision).toBe('2025-11-25')
      expect(client.server.info.name).toBe('secure-filesystem-server')
    })

    testWorks('tools', 'its fourteen tools are listed', async () => {
      expect(await client.tools().all()).toHaveLength(14)
    })

    testWorks('tools', 'files are read, written, edited and moved', async () => {
      expect(await text('read_file', { path: notes })).toBe('first\nsecond\nthird')
      expect(await text('read_text_file', { path: notes, head: 1 })).toBe('first')
      expect(await text('read_multiple_files', { paths: [notes, join(one, 'missing')] })).toContain('missing: Error')
      await client.call('write_file', { path: join(one, 'new.txt'), content: 'Grüße, 世界' })
      expect(readFileSync(join(one, 'new.txt'), 'utf8')).toBe('Grüße, 世界')
      expect(await text('edit_file', { path: notes, edits: [{ oldText: 'second', newText: 'zweite' }] })).toContain('+zweite')
      await client.call('create_directory', { path: join(one, 'sub') })
      await client.call('move_file', { source: join(one, 'new.txt'), destination: join(one, 'sub', 'new.txt') })
      expect(readFileSync(join(one, 'sub', 'new.txt'), 'utf8')).toBe('Grüße, 世界')
    })

    testWorks('tools', 'directories are listed and searched', async () => {
      expect(await text('list_directory', { path: one })).toContain('[FILE] notes.txt')
      expect(await text('list_directory_with_sizes', { path: one, sortBy: 'size' })).toContain('Combined size')
      expect(JSON.parse(await text('directory_tree', { path: one }))).toContainEqual({ name: 'notes.txt', type: 'file' })
      expect(await text('search_files', { path: one, pattern: '**/*.txt' })).toContain(notes)
      expect(await text('get_file_info', { path: notes })).toContain('isFile: true')
      expect(await text('list_allowed_directories')).toContain(one)
    })

    testWorks('tools', 'a path outside the allowed directories is refused as a failure of the tool', async () => {
      expect(await client.call('read_text_file', { path: '/etc/hostname' })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('Access denied') }],
      })
    })

    testWorks('structured', 'every result carries structured output that fits its schema', async () => {
      const result = await client.call('read_text_file', { path: notes, tail: 1 })
      expect(result.structuredContent).toEqual({ content: 'third' })
      const media = await client.call('read_media_file', { path: join(one, 'pixel.png') })
      expect(media.structuredContent).toEqual({ content: media.content })
    })

    testWorks('content kinds', 'media arrive as images, audio and embedded bytes', async () => {
      expect(await contentOf(client, 'read_media_file', { path: join(one, 'pixel.png') })).toEqual([
        { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') },
      ])
      expect(await contentOf(client, 'read_media_file', { path: join(one, 'silence.wav') })).toMatchObject([
        { type: 'audio', mimeType: 'audio/wav' },
      ])
      expect(await contentOf(client, 'read_media_file', { path: join(one, 'data.bin') })).toMatchObject([
        { type: 'resource', resource: { uri: pathToFileURL(join(one, 'data.bin')).href, blob: 'AAEC' } },
      ])
    })

    testWorks('cancel', 'a call given up at once is not answered, and the server lives on', async () => {
      const controller = new AbortController()
      const given = client.call('directory_tree', { path: one }, { signal: controller.signal })
      controller.abort()
      await expect(given).rejects.toMatchObject({ name: 'AbortError' })
      expect(await text('list_allowed_directories')).toContain(one)
      expect(connected.warnings).toEqual([])
    })

    testWorks('roots', 'our roots are its allowed directories, also after they change', async () => {
      proves('T-ROOT-007')
      const other = join(two, 'other.txt')
      expect(await client.call('read_text_file', { path: other })).toMatchObject({ isError: true })
      const updated = connected.stderr.next((line) => line.includes('from MCP roots: 2 valid directories'))
      client.setRoots([pathToFileURL(one).href, pathToFileURL(two).href])
      await updated
      expect(await text('read_text_file', { path: other })).toBe('elsewhere')
    })

    for (const feature of ['resources', 'subscribe', 'prompts', 'completion', 'logging'] as const) {
      testCapabilityLacks(matrix, PEER, feature, () => client)
    }
    matrix.testLacks(PEER, 'progress', 'it reports no progress to a call that asks for it', async () => {
      proves('T-PROG-015')
      await client.call('directory_tree', { path: one }, { onProgress: () => progressHeard++ })
      expect(progressHeard).toBe(0)
    })
    for (const [feature, kind] of [
      ['elicit', 'form'],
      ['url', 'page'],
      ['sample', 'model'],
    ] as const) {
      matrix.testLacks(PEER, feature, `none of its tools has asked for a ${kind}`, async () => {
        expect(connected.asked.items.filter((question) => question.kind === kind)).toEqual([])
      })
    }
    matrix.testLacks(PEER, 'list_changed', 'its list of tools has not changed', async () => {
      expect(listsChanged).toBe(0)
    })
  })
}
