import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { agreedRealPath, nearestRealPath } from '../../src/files/nearest-real-path.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

test('a path that does not exist resolves through its nearest existing ancestor', async () => {
  const folder = await realpath(newFolder())
  await mkdir(join(folder, 'real'))
  await symlink(join(folder, 'real'), join(folder, 'link'))
  expect(await nearestRealPath(join(folder, 'link', 'a', 'b'))).toBe(join(folder, 'real', 'a', 'b'))
  expect(await nearestRealPath(join(folder, 'link'))).toBe(join(folder, 'real'))
})

test('a link to a file that does not exist yet resolves to its target', async () => {
  const folder = await realpath(newFolder())
  await mkdir(join(folder, 'inside'))
  await symlink('../outside/new', join(folder, 'inside', 'link'))
  await symlink('link', join(folder, 'inside', 'chain'))
  expect(await nearestRealPath(join(folder, 'inside', 'chain'))).toBe(join(folder, 'outside', 'new'))
})

test('a path below a file does not exist, and a circle of links resolves to nothing', async () => {
  const folder = await realpath(newFolder())
  await writeFile(join(folder, 'file'), '')
  await symlink('b', join(folder, 'a'))
  await symlink('a', join(folder, 'b'))
  expect(await nearestRealPath(join(folder, 'file', 'x'))).toBe(join(folder, 'file', 'x'))
  expect(await nearestRealPath(join(folder, 'a'))).toBeUndefined()
})

test('a path is accepted only if it opens the same file before and after normalisation', async () => {
  const folder = await realpath(newFolder())
  await mkdir(join(folder, 'a/b/c'), { recursive: true })
  await symlink('a/b/c', join(folder, 'deep'))
  await symlink('.', join(folder, 'here'))
  await symlink('nowhere', join(folder, 'a/loose'))
  await writeFile(join(folder, 'a/file'), '')
  const segments = ['a', 'b', 'c', 'deep', 'here', 'loose', 'file', 'new', '..', '..', '.', '']
  let agreed = 0
  let refused = 0
  // Every path of up to four segments.
  for (let n = 0; n < segments.length ** 4; n += 23) {
    const picked = [0, 1, 2, 3].map((place) => segments[Math.floor(n / segments.length ** place) % segments.length] as string)
    const path = `${folder}/${picked.join('/')}`
    const real = await agreedRealPath(path)
    if (real === undefined) refused++
    else {
      agreed++
      expect([path, real]).toEqual([path, await nearestRealPath(path)])
      expect([path, real]).toEqual([path, await nearestRealPath(resolve(path))])
    }
  }
  expect(agreed).toBeGreaterThan(300)
  expect(refused).toBeGreaterThan(3)
})
