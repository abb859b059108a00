/** The package as users install it: `npm pack`, an empty folder, and `npx portico`. */

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { pageSizes } from '../../scripts/page-size.mjs'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { aliveOf, openLink, startConsole } from '../cli/support/started.ts'
import { temporaryFolders } from '../support/folders.ts'
import { http } from '../support/http-requests.ts'

const newFolder = temporaryFolders()

function npm(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync('npm', [...args], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stdout}${stderr}`)
  return stdout
}

test('the packed package contains the page, and npx portico serves it', async () => {
  const [into, project, home] = [newFolder(), newFolder(), newFolder()]
  const [packed] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', into], root))
  const paths = packed.files.map(({ path }: { path: string }) => path)
  expect(paths).toEqual(expect.arrayContaining(['dist/console/index.js', 'dist/console/page/index.html']))
  // Sources and maps stay out.
  expect(paths.filter((path: string) => /\.(map|tsx|module\.css)$/.test(path))).toEqual([])
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}')
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', join(into, packed.filename)], project)
  // What `npx portico` runs. npx itself would end at a signal without passing it on.
  const started = await startConsole({ home, program: [join(project, 'node_modules/.bin/portico'), '--port', '0'] })
  const index = await http(started.origin, { method: 'GET' })
  expect(index).toMatchObject({ status: 200, headers: { 'content-security-policy': expect.stringContaining("script-src 'self'") } })
  const files = [...index.text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string)
  expect(files.some((path) => path.endsWith('.js'))).toBe(true)
  for (const path of files) {
    const file = await http(started.origin + path, { method: 'GET' })
    expect(file.status).toBe(200)
    expect(file.text).toBe(readFileSync(join(root, 'dist/console/page', path), 'utf8'))
    // Only the variant of React for development has this text.
    expect(file.text).not.toContain('react-devtools')
  }
  const page = await openLink(started.link)
  expect((await page.get('GET /api/settings')).name).toBe('portico')
  started.child.kill('SIGTERM')
  expect(await started.ended).toBe(0)
  await expect.poll(() => aliveOf(home), { timeout: 10_000 }).toEqual([])
}, 180_000)

test('a browser loads at most 400 kB before the first page is shown', () => {
  const { firstKb, allKb } = pageSizes()
  expect(firstKb).toBeGreaterThan(1)
  expect(firstKb).toBeLessThanOrEqual(400)
  expect(allKb).toBeGreaterThanOrEqual(firstKb)
})
