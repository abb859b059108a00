import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testPolicy } from '../../../src/host/policy-tools/policy-test.ts'
import { temporaryFolders } from '../../support/folders.ts'
import { policy, rule } from '../consent/actions.ts'

const newFolder = temporaryFolders()

const POLICY = policy({
  user: [
    rule('allow', { server: 'files', tool: 'read' }, { id: 'reads', args: { '/path': { within: '/area' } } }),
    rule('deny', { tool: 'drop' }, { id: 'no-drop' }),
  ],
})

const CASES = `
cases:
  - name: files of the project are read
    action: { kind: tool.call, server: files, tool: read, args: { path: /area/a } }
    expect: allow
    because: reads
  - name: others are asked about
    action: { kind: tool.call, server: files, tool: read, args: { path: /etc/passwd } }
    expect: ask
  - name: a link out of the project is asked about
    action: { kind: tool.call, server: files, tool: read, args: { path: /area/link }, realPaths: { /path: /etc/passwd } }
    expect: ask
  - name: what changed is not used
    action: { kind: tool.call, server: files, tool: read, state: changed, args: { path: /area/a } }
    expect: quarantine
    because: pin
  - name: nothing is dropped, and this expectation is wrong
    action: { kind: tool.call, server: db, tool: drop }
    expect: deny
    because: reads
`

function folderWith(files: Record<string, string>): string {
  const folder = newFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('a folder of cases is run, and unexpected decisions are explained', async () => {
  const results = await testPolicy(POLICY, folderWith({ 'b.yaml': CASES, 'a.json': '{"cases": []}', 'notes.txt': 'x' }))
  expect(results.map(({ isAsExpected }) => isAsExpected)).toEqual([true, true, true, true, false])
  expect(results[4]).toMatchObject({ file: 'b.yaml', expected: 'deny because of reads', got: 'deny because of no-drop' })
  expect(results[4]?.explanation).toContain('holds          no-drop')
})

test('a case can say that a tool is accepted as read-only, and which folders were granted', async () => {
  const text = `
cases:
  - name: an accepted tool is not asked about
    action: { kind: tool.call, server: web, tool: search, tier: untrusted, isAcceptedReadOnly: true, args: { q: rain } }
    expect: allow
    because: accepted
  - name: the same tool without it is asked about
    action: { kind: tool.call, server: web, tool: search, tier: untrusted, args: { q: rain } }
    expect: ask
  - name: a path in a granted folder is not asked about
    action: { kind: tool.call, server: docs, tool: show, tier: untrusted, isAcceptedReadOnly: true, roots: [/area], args: { path: /area/a } }
    expect: allow
  - name: a path outside is asked about
    action: { kind: tool.call, server: docs, tool: show, tier: untrusted, isAcceptedReadOnly: true, roots: [/area], args: { path: /etc/passwd } }
    expect: ask
  - name: private data is asked about
    action: { kind: tool.call, server: web, tool: search, tier: untrusted, isAcceptedReadOnly: true, labels: ['private:mail'], args: { q: rain } }
    expect: ask
`
  const results = await testPolicy(POLICY, folderWith({ 'a.yaml': text }))
  expect(results.filter(({ isAsExpected }) => !isAsExpected)).toEqual([])
  expect(results).toHaveLength(5)
})

test.each([
  ['cases:\n  - { name: a, action: { kind: tool.cal, server: x }, expect: ask }', /a\.yaml: cases\[0\]\.action\.kind: expected/],
  ['cases:\n  - { name: a, action: { kind: tool.call, server: x, tols: y }, expect: ask }', /unknown property "tols"/],
  ['cases:\n  - { name: a, action: { kind: tool.call, server: x }, expect: maybe }', /expect: expected/],
  ['case: []', /unknown property "case"/],
])('the invalid case %j is refused', async (text, message) => {
  await expect(testPolicy(POLICY, folderWith({ 'a.yaml': text }))).rejects.toThrow(message)
})

test('a missing folder or one without cases is not a passed test', async () => {
  await expect(testPolicy(POLICY, newFolder())).rejects.toThrow(/expected files with cases/)
  await expect(testPolicy(POLICY, join(newFolder(), 'none'))).rejects.toMatchObject({ code: 'ERR_CONFIG' })
})
