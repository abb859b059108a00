import { expect, test, vi } from 'vitest'
import { sizeOf } from '../../../src/http/server/limits/kept-bytes.ts'
import { KeptAnswer, wholeStream } from '../../../src/http/server/streams/kept-answer.ts'

test.each([true, false])('a stream that ends at once is one text, with an event id where readers poll: %s', (isPolled) => {
  const event = 'event: message\nid: p.7.1\ndata: {}\n\n'
  const text = wholeStream('{}', 'p.7', isPolled)
  expect(text).toBe(isPolled ? `id: p.7.0\nretry: 1000\ndata:\n\n${event}` : event)
  const onTooMuch = vi.fn()
  const answer = new KeptAnswer(7, text, 5, { onTooMuch })
  expect(answer).toMatchObject({ number: 7, event, bytes: sizeOf(text), unattendedSince: 5 })
  expect(answer.evictOldest()).toBe(true)
  expect(onTooMuch).toHaveBeenCalledWith(answer)
})

test('the event of an answer is found, whatever the answer says', () => {
  const json = '{"text":"event: message\\n"}'
  const answer = new KeptAnswer(1, wholeStream(json, 'p.1', true), 0, { onTooMuch: () => {} })
  expect(answer.event).toBe(`event: message\nid: p.1.1\ndata: ${json}\n\n`)
})
