import { expect, test } from 'vitest'
import { chatLimits, samplingLimits } from '../../../src/host/setup/derived-limits.ts'

const MINUTE = 60_000

test.each([
  [{}, 15],
  [{ gate: { questionTimeoutMs: 1000 } }, 15],
  [{ gate: { questionTimeoutMs: 60 * MINUTE } }, 65],
  [{ client: { maxTotalMs: 90 * MINUTE } }, 90],
  [{ chat: { callTimeoutMs: 1 } as object }, 15],
])('with the limits %j a call of a chat may take %i minutes', (limits, minutes) => {
  expect(chatLimits(limits)).toMatchObject({ callTimeoutMs: minutes * MINUTE, maxCalls: 32 })
})

test.each([
  [{}, 10],
  [{ gate: { questionTimeoutMs: 60 * MINUTE } }, 60],
  [{ sampling: { maxAnswerMs: 1 } as object }, 10],
])('with the limits %j an answer to a sampling request may take %i minutes', (limits, minutes) => {
  expect(samplingLimits(limits)).toMatchObject({ maxAnswerMs: minutes * MINUTE, maxDepth: 1 })
})

test('the options of chats and sampling are kept', () => {
  expect(chatLimits({ chat: { maxSteps: 3 } })).toMatchObject({ maxSteps: 3 })
  expect(samplingLimits({ sampling: { maxTokens: 3 } })).toMatchObject({ maxTokens: 3 })
})
