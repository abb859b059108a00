/** The examples that need a provider are not run; that they use what there is can be told all the same. */

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../../scripts/setup.mjs'

const folder = `${root}/.cache/documented-models-${process.pid}`

/** What the compiler has to say about these programs. */
function complaints(programs: readonly string[]): Promise<string> {
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [at, code] of programs.entries()) writeFileSync(`${folder}/${at}.mts`, code)
  const compilerOptions = { paths: { 'portico/host': ['../../src/host/index.ts'] }, noUnusedLocals: false }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['*.mts'] }))
  return new Promise((resolve) => {
    execFile(process.execPath, [`${root}/node_modules/typescript/bin/tsc`, '-p', folder], (_, stdout, stderr) =>
      resolve(
        (stdout + stderr)
          .split('\n')
          .filter((line) => line.includes('.mts'))
          .join('\n'),
      ),
    )
  })
}

test('the provider options in the documented examples exist', { timeout: 120_000 }, async () => {
  const examples = [...readFileSync(`${root}/docs/models.md`, 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
  expect(examples.length).toBeGreaterThanOrEqual(3)
  const wrong = (examples[0] as string).replace('seesPictures:', 'seesPicture:')
  const said = await complaints([...examples, wrong])
  expect(said).toContain("'seesPicture' does not exist")
  expect(said.split('\n')).toHaveLength(1)
})
