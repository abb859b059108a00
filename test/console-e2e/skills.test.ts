/** The skills of a server on its page: read before the approval, approved in the question, revoked. */

import { expect, onTestFinished, test } from 'vitest'
import { allow } from '../../src/host/policy-tools/index.ts'
import { entryOf, scriptedSkills, skillText } from '../skills/skill-files.ts'
import { chromiumOfFile } from '../support/chromium.ts'
import { afterQuiet, openWindow } from './support/windows.ts'
import { inMemory, worlds } from './support/worlds.ts'

const chromium = chromiumOfFile()
const newWorld = worlds()

test('a skill is read, approved and revoked on the page of its server', async () => {
  const uri = 'skill://refunds/SKILL.md'
  const files = { 'SKILL.md': skillText('refunds', '', 'Ask for the receipt first.\n') }
  const { server } = scriptedSkills([entryOf(uri, files)], { [uri]: files['SKILL.md'] })
  const { console, host } = await newWorld({
    host: { servers: { docs: inMemory(server) }, policy: { session: [allow('all', { action: 'server.approve' })] } },
  })
  await expect.poll(() => host.skills().length).toBe(1)
  const window = await openWindow(await chromium(), console.link())
  onTestFinished(() => window.close())
  const { page } = window
  await window.open('/servers?server=docs&tab=offering')
  const skill = page.getByRole('article', { name: 'Skill refunds' })
  await skill.getByText('Does refunds well').waitFor()
  await skill.getByText('waits for you').waitFor()
  await skill.getByText('Read it (1 file)').click()
  await skill.getByRole('button', { name: /^Read SKILL.md/ }).click()
  await skill.getByText('Ask for the receipt first.').waitFor()
  await skill.getByRole('button', { name: 'Approve' }).click()
  const question = page.locator('article[data-question]')
  await question.getByRole('region', { name: 'Skill refunds' }).getByText('Does refunds well').waitFor()
  await afterQuiet(page)
  // A long question is opened first.
  const open = question.locator('[data-answer="open"]')
  if (await open.isVisible()) {
    await open.click()
    await afterQuiet(page)
  }
  await question.locator('[data-answer="allow"]').click()
  await skill.getByText('Models can load it.').waitFor()
  await skill.getByRole('button', { name: 'Revoke the approval' }).click()
  await skill.getByText('No model gets it before you approve it.').waitFor()
  await expect.poll(() => host.skills()[0]?.state).toBe('new')
  expect(window.problems).toEqual([])
}, 60_000)
