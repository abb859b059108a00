import { describe, expect, test } from 'vitest'
import { createServer } from '../../src/server/index.ts'
import { http } from '../support/http-requests.ts'
import { initializeMessage, openSession, serve, testServer } from '../support/http-service.ts'
import { SESSION_REVISIONS } from '../support/judged-pair.ts'
import { type Message, rawChannel } from '../support/raw-channel.ts'

/** What `make` makes of a text, such that its JSON has exactly so many bytes. */
const sized = (bytes: number, make: (text: string) => Message): Message =>
  make('x'.repeat(bytes - Buffer.byteLength(JSON.stringify(make('')))))

describe.each(SESSION_REVISIONS)('the information that a client of %s declares', (revision) => {
  const newServer = () => createServer({ name: 'x', version: '1' })
  const open = (clientInfo: Message, capabilities: Message) =>
    rawChannel(newServer()).ask('initialize', { protocolVersion: revision, capabilities, clientInfo })
  const info = { name: 'raw', version: '1' }

  test.each([
    ['clientInfo', 4 * 1024, 'maxClientInfoBytes', (value: Message) => open({ ...info, name: JSON.stringify(value) }, {})],
    ['capabilities', 8 * 1024, 'maxCapabilitiesBytes', (value: Message) => open(info, { experimental: { x: value } })],
  ] as const)('%s of more than %i bytes is refused', async (member, max, limit, send) => {
    const large = await send({ text: 'x'.repeat(max) })
    expect(large.error).toMatchObject({
      message: expect.stringMatching(new RegExp(`^params\\.${member} has \\d+ bytes as JSON; at most ${max} are accepted \\(${limit}\\)$`)),
      data: { reason: 'limit', limit, max },
    })
    expect((await send({ text: 'x'.repeat(max / 2) })).result).toBeDefined()
  })
})

test('the limits are exact, in bytes of JSON', async () => {
  const server = createServer({ name: 'x', version: '1' })
  const limitHit = async (clientInfo: Message, capabilities: Message): Promise<string | undefined> => {
    const { error } = await rawChannel(server).ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo })
    return error?.data.limit
  }
  const infoOf = (name: string) => ({ name, version: '1' })
  const capabilitiesOf = (text: string) => ({ experimental: { k: { text } } })
  expect(await limitHit(sized(4096, infoOf), sized(8192, capabilitiesOf))).toBeUndefined()
  expect(await limitHit(sized(4097, infoOf), {})).toBe('maxClientInfoBytes')
  expect(await limitHit(infoOf('x'), sized(8193, capabilitiesOf))).toBe('maxCapabilitiesBytes')
  // Letters of two bytes count as two.
  expect(await limitHit(infoOf('ж'.repeat(2000)), {})).toBeUndefined()
  expect(await limitHit(infoOf('ж'.repeat(2100)), {})).toBe('maxClientInfoBytes')
})

test('small values are counted, because they take more memory than their text', async () => {
  const server = createServer({ name: 'x', version: '1' })
  const errorOf = async (clientInfo: Message, capabilities: Message): Promise<Message | undefined> => {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'x', version: '1', ...clientInfo } }
    return (await rawChannel(server).ask('initialize', params)).error
  }
  const values = (count: number): Message => ({ icons: Array.from({ length: count }, () => 1) })
  // The object around the values counts, too, and so do the name and the version.
  expect([await errorOf(values(50 - 3), {}), await errorOf({}, values(200 - 1))]).toEqual([undefined, undefined])
  expect(await errorOf(values(51 - 3), {})).toMatchObject({
    message: 'params.clientInfo has 51 values; at most 50 are accepted (maxClientInfoValues)',
    data: { reason: 'limit', limit: 'maxClientInfoValues', max: 50 },
  })
  expect(await errorOf({}, values(201 - 1))).toMatchObject({
    message: 'params.capabilities has 201 values; at most 200 are accepted (maxCapabilitiesValues)',
    data: { reason: 'limit', limit: 'maxCapabilitiesValues', max: 200 },
  })
})

test('over HTTP a client that declares too much gets no session', async () => {
  const { url, handler } = await serve(testServer())
  const message = initializeMessage('2025-11-25')
  const body = { ...message, params: { ...message.params, clientInfo: { name: 'x'.repeat(1_000_000), version: '1' } } }
  for (let i = 0; i < 5; i++) expect((await http(url, { body })).message.error?.data.limit).toBe('maxClientInfoBytes')
  expect(handler.counts.sessions).toBe(0)
  await openSession(url, '2025-11-25')
})
