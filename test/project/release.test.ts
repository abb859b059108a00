import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { CARRIERS, datedChangelog, nextVersion } from '../../scripts/release.mjs'
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

test('the next version follows from the word, and an older or strange one is refused', () => {
  expect(['patch', 'minor', 'major', '1.2.3', '2.0.0'].map((wanted) => nextVersion('1.2.3', wanted))).toEqual([
    '1.2.4',
    '1.3.0',
    '2.0.0',
    '1.2.3',
    '2.0.0',
  ])
  expect(() => nextVersion('1.2.3', '1.2.2')).toThrow('Expected a version that is not older than 1.2.3, got 1.2.2')
  for (const wanted of ['1.2', 'v1.2.4', '01.2.3', '1.2.4-beta', 'latest', ''])
    expect(() => nextVersion('1.2.3', wanted)).toThrow(`got ${JSON.stringify(wanted)}`)
})

test('the section of the release gets a date; without a section or without lines it is refused', () => {
  const text = '# Changelog\n\n## 0.2.0 (unreleased)\n\n- New.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n'
  expect(datedChangelog(text, '1.0.0', '2026-02-03')).toBe(text.replace('0.2.0 (unreleased)', '1.0.0 (2026-02-03)'))
  expect(() => datedChangelog(text.replace('unreleased', '2026-01-02'), '1.0.0', '')).toThrow('must be "## VERSION (unreleased)"')
  expect(() => datedChangelog('# Changelog\n', '1.0.0', '')).toThrow('must be "## VERSION (unreleased)"')
  expect(() => datedChangelog(text.replace('- New.\n', ''), '1.0.0', '')).toThrow('is empty')
})

describe('a release in a clone', () => {
  const git = (cwd: string, ...args: string[]): string => {
    const identity = [
      '-c',
      'user.name=Ada',
      '-c',
      'user.email=ada@example.com',
      '-c',
      'init.defaultBranch=main',
      '-c',
      'commit.gpgsign=false',
    ]
    const { status, stdout, stderr } = spawnSync('git', [...identity, ...args], { cwd, encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    return stdout.trim()
  }

  /** A clone with the files that a release reads and writes, and the addresses that the publisher fills in. */
  function clone(): string {
    const folder = newFolder()
    const files = [
      'CHANGELOG.md',
      'scripts/setup.mjs',
      'scripts/release.mjs',
      'scripts/check-release.mjs',
      ...CARRIERS.map(([file]: [string]) => file),
    ]
    for (const file of new Set<string>(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      cpSync(join(root, file), join(folder, file))
    }
    for (const file of ['package.json', 'create-portico/package.json']) {
      const fields = {
        repository: 'https://git.example/portico',
        homepage: 'https://portico.example',
        bugs: 'https://git.example/bugs',
        author: 'Ada',
      }
      const text = readFileSync(join(folder, file), 'utf8')
      writeFileSync(join(folder, file), `${JSON.stringify({ ...JSON.parse(text), ...fields }, undefined, 2)}\n`)
    }
    git(folder, 'init', '--quiet')
    git(folder, 'config', 'user.name', 'Ada')
    git(folder, 'config', 'user.email', 'ada@example.com')
    git(folder, 'add', '.')
    git(folder, 'commit', '--quiet', '-m', 'all')
    return folder
  }

  const release = (folder: string, ...args: string[]) =>
    spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd: folder, encoding: 'utf8' })

  test('a dry run shows every change and makes none; a release commits and tags them', () => {
    const folder = clone()
    const dry = release(folder, 'minor', '--dry-run')
    expect(dry, dry.stderr).toMatchObject({ status: 0 })
    for (const [file] of CARRIERS) expect(dry.stdout).toContain(`${file}:`)
    expect(dry.stdout).toMatch(/\+ ## 0\.2\.0 \(\d{4}-\d\d-\d\d\)/)
    expect(dry.stdout).toContain('Would commit "release: 0.2.0" and tag v0.2.0.')
    expect([git(folder, 'status', '--porcelain'), git(folder, 'tag')]).toEqual(['', ''])

    const made = release(folder, 'minor', '--skip-tests')
    expect(made, made.stderr).toMatchObject({ status: 0 })
    expect(git(folder, 'log', '-1', '--format=%s %D')).toMatch(/^release: 0\.2\.0 HEAD -> main, tag: v0\.2\.0$/)
    expect(git(folder, 'status', '--porcelain')).toBe('')
    for (const [file, place] of CARRIERS) expect(place.exec(readFileSync(join(folder, file), 'utf8'))[0], file).toMatch(/0\.2\.0$/)
    expect(JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages[''].version).toBe('0.2.0')
    expect(release(folder, '--check-tag', 'v0.2.0').status).toBe(0)
    expect(release(folder, '--check-tag', 'v0.3.0')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('is not the version in package.json'),
    })
    // The next release needs a new section.
    expect(release(folder, 'patch', '--dry-run')).toMatchObject({ status: 2, stderr: expect.stringContaining('(unreleased)') })
  })

  test('changed files, another branch, an old tag and missing addresses refuse it, all in one answer', () => {
    const folder = clone()
    git(folder, 'tag', 'v0.1.0')
    git(folder, 'checkout', '--quiet', '-b', 'work')
    cpSync(join(root, 'create-portico/package.json'), join(folder, 'create-portico/package.json'))
    const { status, stderr } = release(folder, '0.1.0', '--skip-tests')
    expect(status).toBe(1)
    for (const problem of [
      'this is work',
      'The tree is not clean',
      'The tag v0.1.0 exists',
      'create-portico/package.json is not ready',
      '4 problems',
    ])
      expect(stderr).toContain(problem)
    expect(git(folder, 'log', '-1', '--format=%s')).toBe('all')
  })
})
