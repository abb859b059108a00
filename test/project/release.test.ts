import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()
const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as Record<string, unknown>

function checkRelease(fields: Record<string, unknown>): { status: number | null; stderr: string } {
  const file = `${newFolder()}/package.json`
  writeFileSync(file, JSON.stringify(fields))
  return spawnSync(process.execPath, [`${root}/scripts/check-release.mjs`, file], { encoding: 'utf8' })
}

test('a release without its public addresses is refused, and each missing field is named', () => {
  const { status, stderr } = checkRelease({ ...manifest, homepage: 'https://portico.example' })
  expect(status).toBe(1)
  for (const field of ['repository', 'bugs', 'author']) expect(stderr).toContain(`"${field}"`)
  expect(stderr).not.toContain('"homepage"')
})

test('a release with all of them passes', () => {
  const filled = {
    repository: 'https://git.example/portico',
    homepage: 'https://portico.example',
    bugs: 'https://git.example/bugs',
    author: 'Ada',
  }
  expect(checkRelease({ ...manifest, ...filled }).status).toBe(0)
})

test('npm publish runs the check, and the package has a description', () => {
  expect(manifest.scripts).toMatchObject({ prepublishOnly: 'node scripts/check-release.mjs' })
  expect((manifest.keywords as string[]).length).toBeGreaterThan(5)
  expect(manifest.description).toMatch(/Model Context Protocol/)
})

test('running the product takes a build tool and nothing that only tests need', () => {
  expect(Object.keys(manifest.devDependencies as object)).toEqual(['rolldown'])
  expect(manifest.workspaces).toEqual(['test', 'bench', 'console', 'site'])
})
