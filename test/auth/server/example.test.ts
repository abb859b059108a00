import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
// @ts-expect-error a plain script without types
import { root } from '../../../scripts/setup.mjs'
import { proves } from '../../support/proves.ts'

test('the example connects an account for its person only', async () => {
  proves('T-ELIC-066', 'T-ELIC-074', 'T-ELIC-099')
  const run = spawn(process.execPath, ['examples/connected-account/run.mjs'], { cwd: root })
  let output = ''
  for (const stream of [run.stdout, run.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const code = await new Promise((resolve) => run.on('close', resolve))
  expect(output).toBe(`Alice asks for her albums:
  the client asks: Connect your Photos account
  the browser of alice shows: Done
  answer: alice at sea, alice in the hills
Alice asks again, without a question:
  answer: alice at sea, alice in the hills
Mallory asks, and makes Alice open the page:
  the client asks: Connect your Photos account
  the browser of alice shows: Access denied
  answer: The person declined: Connect your Photos account
The clients saw a token of the photo service: no
`)
  expect(code).toBe(0)
})
