import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Conversation } from '../../../../src/host/conversation/chat/conversation.ts'
import { estimateTokens } from '../../../../src/host/language-models/estimate-tokens.ts'
import { checkToolUse, type SamplingMessage } from '../../../../src/protocol/model/sampling.ts'

const round = (id: string, chars: number): SamplingMessage[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', toolUseId: id, content: [{ type: 'text', text: 'x'.repeat(chars) }] }] },
]
const size = ({ messages }: Conversation): number => messages.reduce((sum, message) => sum + estimateTokens(message), 0)

/** One turn for each number: a question, a result of that many characters, an answer. */
function conversationOf(...turns: number[]): Conversation {
  const conversation = new Conversation()
  for (const [at, chars] of turns.entries()) {
    conversation.begin(`question ${at}`)
    for (const message of round(`r${at}`, chars)) conversation.add(message)
    conversation.add({ role: 'assistant', content: [{ type: 'text', text: `answer ${at}` }] })
  }
  return conversation
}

describe('a conversation that grows too large', () => {
  test('a conversation that grows too large drops the oldest results first, with a note', () => {
    const conversation = conversationOf(4000, 4000, 4000)
    conversation.begin('and now?')
    conversation.fit({ maxContextTokens: 2500, maxMessages: 100 })
    const json = conversation.messages.map((message) => JSON.stringify(message))
    expect(json[2]).toContain('was left out to make room')
    expect(json[10]).toContain('x'.repeat(4000))
    expect(json.join()).toContain('question 0')
    expect(size(conversation)).toBeLessThanOrEqual(2500)
  })

  test('a conversation that is still too large drops whole turns, the oldest first', () => {
    const conversation = conversationOf(40, 40, 40)
    conversation.begin('and now?')
    conversation.fit({ maxContextTokens: 150, maxMessages: 100 })
    const json = JSON.stringify(conversation.messages)
    expect(json).not.toContain('question 0')
    expect(json).toContain('and now?')
    expect(conversation.messages[0]?.role).toBe('user')
    expect(conversation.turn).toBe(4)
  })

  test('the number of messages in a conversation is limited', () => {
    const fitted = (maxMessages: number): number => {
      const conversation = conversationOf(1, 1, 1)
      conversation.fit({ maxContextTokens: 100_000, maxMessages })
      return conversation.messages.length
    }
    expect([fitted(13), fitted(12), fitted(11), fitted(8), fitted(7)]).toEqual([12, 12, 8, 8, 4])
  })

  test('a last message that is too long is an error that names the limit', () => {
    const conversation = new Conversation()
    conversation.begin('x'.repeat(4000))
    expect(() => conversation.fit({ maxContextTokens: 500, maxMessages: 10 })).toThrow(
      expect.objectContaining({ code: 'ERR_LIMIT', message: expect.stringContaining('maxContextTokens') }),
    )
  })

  test('a conversation that grows too large leaves room for tools and the system prompt', () => {
    const conversation = conversationOf(4000)
    conversation.fit({ maxContextTokens: 2000, maxMessages: 100 }, 1500)
    expect(size(conversation)).toBeLessThanOrEqual(500)
  })

  test('a shortened conversation fits, and never separates a call from its result', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(3000), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 200, max: 4000 }),
        (turns, maxContextTokens) => {
          const conversation = conversationOf(...turns)
          conversation.begin('and now?')
          conversation.fit({ maxContextTokens, maxMessages: 20 })
          expect(size(conversation)).toBeLessThanOrEqual(maxContextTokens)
          expect(conversation.messages.length).toBeLessThanOrEqual(20)
          expect(checkToolUse(conversation.messages as SamplingMessage[])).toBeUndefined()
          expect(JSON.stringify(conversation.messages.at(-1))).toContain('and now?')
        },
      ),
    )
  })
})
