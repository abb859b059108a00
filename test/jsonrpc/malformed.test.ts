import { beforeEach, describe, expect, test } from 'vitest'
import { createServer, type Server } from '../../src/server/index.ts'
import { SESSION_REVISIONS } from '../support/judged-pair.ts'
import { MALFORMED } from '../support/malformed.ts'
import { proves } from '../support/proves.ts'
import { rawChannel, settle } from '../support/raw-channel.ts'

const asText = MALFORMED.flatMap(({ text, isAboutLines, ...rest }) => (text === undefined || isAboutLines ? [] : [{ ...rest, text }]))

let server: Server
beforeEach(() => {
  server = createServer({ name: 'victim', version: '1' })
  server.tool('echo', { input: { type: 'object' } }, (args) => JSON.stringify(args))
})

test('the corpus of malformed messages is large enough', () => {
  expect(MALFORMED.length).toBeGreaterThanOrEqual(65)
  expect(new Set(MALFORMED.map(({ name }) => name)).size).toBe(MALFORMED.length)
})

describe.each(SESSION_REVISIONS)('in a session of %s', (revision) => {
  // Where batches exist, an array of messages is one.
  const cases = asText.filter(({ text }) => revision !== '2025-03-26' || !text.startsWith('['))

  test.each(cases)('$name gets the expected answer, and the next ping is answered', async ({ text, owed }) => {
    proves('R-BASE-005')
    const raw = rawChannel(server)
    await raw.initialize(revision)
    raw.out.length = 0
    raw.send(text)
    expect(await raw.ask('ping', undefined, 'alive?')).toMatchObject({ result: {} })
    await settle()
    const nobody = revision < '2025-11-25' ? null : undefined
    const errors = raw.out.filter(({ id }) => id !== 'alive?').map(({ jsonrpc, id, error }) => ({ jsonrpc, id, code: error?.code }))
    expect(errors).toEqual(owed.map(({ code, id = nobody }) => ({ jsonrpc: '2.0', id, code })))
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
