/** The cost of consent in ordinary stories: `npm run stories` prints it as a table. */

import { describe, expect, TestRunner, test } from 'vitest'
import { temporaryFolders } from '../support/folders.ts'
import { ATTACKS } from './attacks.ts'
import { EVERYDAY } from './everyday.ts'
import { type StoryOutcome, tell } from './story.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** The row of `npm run stories`. */
    story?: StoryOutcome & { maxQuestions: number; maxLines: number }
  }
}

const folder = temporaryFolders()

describe('ordinary stories', () => {
  test.each(EVERYDAY.map((story) => [story.title, story] as const))('%s', { timeout: 60_000 }, async (_, story) => {
    const { maxQuestions, maxLines } = story
    const meta = TestRunner.getCurrentTest()?.meta
    const outcome = await tell(story, folder(), (cost) => {
      if (meta) meta.story = { ...cost, maxQuestions, maxLines }
    })
    expect(outcome.questions, `questions (${outcome.kinds})`).toBeLessThanOrEqual(maxQuestions)
    expect(outcome.lines, 'lines').toBeLessThanOrEqual(maxLines)
  })
})

describe('the same stories with attackers', () => {
  test.each(ATTACKS.map((attack) => [attack.title, attack] as const))('%s', { timeout: 60_000 }, async (_, attack) => {
    await tell(attack, folder())
  })
})
