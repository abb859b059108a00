import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nearestRealPath } from '../../src/files/nearest-real-path.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

test('what does not exist is where its nearest ancestor really is', async () => {
  const folder = await realpath(newFolder())
  await mkdir(join(folder, 'real'))
  await symlink(join(folder, 'real'), join(folder, 'link'))
  expect(await nearestRealPath(join(folder, 'link', 'a', 'b'))).toBe(join(folder, 'real', 'a', 'b'))
  expect(await nearestRealPath(join(folder, 'link'))).toBe(join(folder, 'real'))
})

test('G1: a link to a file that is not there yet leads where it says, not where it lies', async () => {
  const folder = await realpath(newFolder())
  await mkdir(join(folder, 'inside'))
  await symlink('../outside/new', join(folder, 'inside', 'link'))
  await symlink('link', join(folder, 'inside', 'chain'))
  expect(await nearestRealPath(join(folder, 'inside', 'chain'))).toBe(join(folder, 'outside', 'new'))
})

test('below a file there is nothing, and links in a circle lead nowhere', async () => {
  const folder = await realpath(newFolder())
  await writeFile(join(folder, 'file'), '')
  await symlink('b', join(folder, 'a'))
  await symlink('a', join(folder, 'b'))
  expect(await nearestRealPath(join(folder, 'file', 'x'))).toBe(join(folder, 'file', 'x'))
  expect(await nearestRealPath(join(folder, 'a'))).toBeUndefined()
})
