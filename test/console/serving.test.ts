/** How a console is served: its port, its files, and its samples. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, get as httpGet } from 'node:http'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { consoleAsker, consoleFeed, createConsole } from '../../src/console/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { portOf } from '../support/http-requests.ts'
import { freePort } from '../support/listening-process.ts'
import { consoles, event, Page } from './pages.ts'

const newFolder = temporaryFolders()
const opened = consoles()

describe('ports', () => {
  test('of several ports the first free one is used, and events arrive there', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void taken.close())
    const free = await freePort()
    const { console, feed } = await opened({ host: { servers: {} }, console: { port: [portOf(taken), free] } })
    expect(console.port).toBe(free)
    const page = await Page.open(console)
    const events = await page.events()
    await event(events, 'hello')
    feed.onEvent({ kind: 'warning', text: 'something' })
    expect(await event(events, 'warning')).toMatchObject({ text: 'something' })
  })

  test('a taken port is an error', async () => {
    const { console, host } = await opened({ host: { servers: {} } })
    const options = { asker: consoleAsker(), feed: consoleFeed(), port: console.port }
    await expect(createConsole(host, options)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('files', () => {
  test('the page knows whether a page of another site opened it', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'index.html'), '<!doctype html><html><head><title>page</title></head></html>')
    const { console } = await opened({ host: { servers: {} }, console: { assets: folder } })
    const page = new Page(console.origin)
    const isTold = async (site: string | undefined, path = '/tools'): Promise<boolean> =>
      (await page.send(`GET ${path}`, { headers: site === undefined ? {} : { 'sec-fetch-site': site } })).text.includes('portico-opened-by')
    // A bookmark, an address that was typed, a link of the console, and an old browser.
    for (const site of ['none', 'same-origin', undefined]) expect(await isTold(site)).toBe(false)
    for (const site of ['cross-site', 'same-site', 'anything']) expect(await isTold(site)).toBe(true)
    expect(await isTold('cross-site', '/index.html')).toBe(true)
    expect(await isTold('none')).toBe(false)
  })

  test('text is compressed for browsers that accept it', async () => {
    const folder = newFolder()
    const text = 'console.info("page")\n'.repeat(1_000)
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>page</title>')
    writeFileSync(join(folder, 'assets', 'app.js'), text)
    writeFileSync(join(folder, 'assets', 'dot.png'), Buffer.alloc(5_000))
    const { console } = await opened({ host: { servers: {} }, console: { assets: folder } })
    const get = (path: string, accepted: string) => fetchRaw(console.origin + path, accepted)
    const packed = await get('/assets/app.js', 'br;q=1, gzip')
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding', 'x-content-type-options': 'nosniff' })
    expect(packed.bytes.length).toBeLessThan(1_000)
    expect(gunzipSync(packed.bytes).toString()).toBe(text)
    for (const accepted of ['identity', 'gzip;q=0', 'x-gzip']) {
      const plain = await get('/assets/app.js', accepted)
      expect(plain.headers['content-encoding']).toBeUndefined()
      expect(plain.bytes.toString()).toBe(text)
    }
    for (const path of ['/', '/assets/dot.png']) expect((await get(path, 'gzip')).headers['content-encoding']).toBeUndefined()
  })

  test('without a built page, the page says how to build it', async () => {
    const { console } = await opened({ host: { servers: {} } })
    const { bytes } = await fetchRaw(console.origin, 'identity')
    expect(bytes.toString()).toContain('npm run build')
  })
})

/** Without decoding, which fetch would do. */
async function fetchRaw(url: string, accepted: string): Promise<{ headers: Record<string, string | undefined>; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    httpGet(url, { headers: { 'accept-encoding': accepted } }, async (response) => {
      const parts: Buffer[] = []
      for await (const part of response) parts.push(part as Buffer)
      resolve({ headers: response.headers as Record<string, string | undefined>, bytes: Buffer.concat(parts) })
    }).once('error', reject)
  })
}
