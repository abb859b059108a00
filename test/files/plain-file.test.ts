/** Files that a project or a person named are read up to a bound, whatever they are. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readTranscript } from '../../src/cli/transcript/read-transcript.ts'
import { readAtMost, readPlainFile, readPlainText } from '../../src/files/plain-file.ts'
import { readPrivate } from '../../src/files/private-file.ts'
import { readPolicy } from '../../src/host/policy/policy-file.ts'
import { testPolicy } from '../../src/host/policy-tools/lazy-readers.ts'
import { readConfig } from '../../src/host/setup/lazy-readers.ts'
import { policy } from '../host/consent/actions.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

/** What a cloned repository may have in the place of a file. */
const TRAPS = {
  'an endless device': (file: string) => symlinkSync('/dev/zero', file),
  'a pipe that nobody writes to': (file: string) => void execFileSync('mkfifo', [file]),
  'a folder': (file: string) => void mkdirSync(file),
} as const

describe.each(Object.entries(TRAPS))('%s', (_name, set) => {
  const trap = (name: string): string => {
    const folder = newFolder()
    set(join(folder, name))
    return join(folder, name)
  }

  test('a special file is not read as a plain file', async () => {
    await expect(readPlainFile(trap('file'), 1000)).rejects.toMatchObject({ reason: 'not-plain' })
  })

  test('a special file is not read as a policy, and the error names it', async () => {
    const file = trap('policy.yaml')
    await expect(readPolicy({ project: file })).rejects.toMatchObject({ code: 'ERR_CONFIG', message: expect.stringContaining(file) })
  })

  test('a special file is not read as cases for a policy', async () => {
    const file = trap('cases.yaml')
    await expect(testPolicy(policy(), join(file, '..'))).rejects.toMatchObject({ code: 'ERR_CONFIG' })
  })

  test('a special file is not read as a configuration', async () => {
    expect((await readConfig(trap('mcp.json'))).problems).toMatchObject([{ text: 'Not a regular file' }])
  })

  test('a special file is not read as a file of the host', async () => {
    await expect(readPrivate(trap('own'), 1000)).rejects.toMatchObject({ code: 'ERR_STORE' })
  })
})

test('a plain file is read up to the limit', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, 'x'.repeat(10))
  expect((await readPlainFile(file, 10)).toString()).toBe('x'.repeat(10))
  await expect(readPlainFile(file, 9, 'maxFileBytes')).rejects.toThrow('The file has 10 bytes: expected at most 9 (maxFileBytes)')
  expect((await readAtMost(file, 10)).toString()).toBe('x'.repeat(10))
  await expect(readAtMost(file, 9)).rejects.toMatchObject({ reason: 'too-large' })
  writeFileSync(file, '')
  expect((await readPlainFile(file, 0)).length).toBe(0)
})

test('a file that reports size 0 is read no further than its reported size', async () => {
  await expect(readPlainFile('/proc/self/status', 1_000_000)).rejects.toMatchObject({ reason: 'changed' })
})

test('a file that is not UTF-8 is refused as text', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, Buffer.from([0xff]))
  await expect(readPlainText(file, 10)).rejects.toMatchObject({ reason: 'not-text', message: 'The file is not UTF-8 text' })
})

test('a device that a person names is read up to the limit', async () => {
  await expect(readAtMost('/dev/zero', 1_000_000)).rejects.toMatchObject({ reason: 'too-large' })
  await expect(readTranscript('/dev/zero', 1_000_000)).rejects.toMatchObject({ code: 'ERR_LIMIT' })
})
