/** Every rule of the cookbook, with the loader and the test runner that users have. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../scripts/setup.mjs'
import { lintPolicy, loadPolicy, testPolicy } from '../../src/host/policy-tools/index.ts'
import { temporaryFolders } from '../support/folders.ts'

const newFolder = temporaryFolders()

/** The numbered sections, each with its rules and its cases. */
const recipes = readFileSync(`${root}/docs/policy-cookbook.md`, 'utf8')
  .split(/^## (?=\d+\. )/m)
  .slice(1)
  .map((section) => {
    const [rules = '', cases = ''] = [...section.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text as string)
    return { title: section.split('\n')[0] as string, rules, cases }
  })

async function policyOf(rules: string) {
  const folder = newFolder()
  writeFileSync(`${folder}/policy.yaml`, rules)
  const policy = await loadPolicy({ policy: `${folder}/policy.yaml`, project: '/project' })
  return { folder, policy }
}

test('the cookbook has ten recipes', () => {
  expect(recipes).toHaveLength(10)
  for (const { cases } of recipes) expect(cases.match(/expect: /g)?.length).toBeGreaterThan(1)
})

test.each(recipes)('recipe $title decides as its cases say', async ({ rules, cases }) => {
  const { folder, policy } = await policyOf(rules)
  mkdirSync(`${folder}/cases`)
  writeFileSync(`${folder}/cases/all.yaml`, cases)
  const results = await testPolicy(policy, `${folder}/cases`)
  expect(results.filter(({ isAsExpected }) => !isAsExpected)).toEqual([])
})

test('lint has nothing to say about the whole cookbook', async () => {
  const { policy } = await policyOf(`rules:\n${recipes.map(({ rules }) => rules.replace(/^rules:\n/, '')).join('\n')}`)
  expect(lintPolicy(policy)).toEqual([])
})
