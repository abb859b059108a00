/** Questions that one process parks and another answers. */

import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { randomId } from '../../../../src/base/bytes.ts'
import { type Inbox, inboxAsker, inboxAskerWith, openInbox } from '../../../../src/host/consent/ask/inbox.ts'
import { DEFAULT_INBOX_LIMITS, FIXED_INBOX_LIMITS, openInboxFiles } from '../../../../src/host/consent/ask/inbox-files.ts'
import { canonicalJson } from '../../../../src/protocol/model/digest-json.ts'
import type { FormSchema } from '../../../../src/protocol/model/elicitation.ts'
import { bundled } from '../../../support/bundled.ts'
import { temporaryFolders } from '../../../support/folders.ts'
import { proves } from '../../../support/proves.ts'
import { question } from './questions.ts'

const newFolder = temporaryFolders()
const never = new AbortController().signal
const leftIn = (folder: string) => readdirSync(folder).filter((name) => name !== 'inbox.key')

async function parked(inbox: Inbox, count = 1) {
  for (;;) {
    const list = await inbox.list()
    if (list.length === count) return list
    await sleep(5)
  }
}

describe('another process', () => {
  let program = ''
  beforeAll(async () => {
    program = await bundled(new URL('fixtures/asking.ts', import.meta.url), newFolder())
  })
  const asking = (folder: string, id = randomId()): ChildProcess =>
    spawn(process.execPath, [program, folder, id], { stdio: ['ignore', 'pipe', 'inherit'] })

  test('another process gets the answer within a second', async () => {
    const folder = join(newFolder(), 'inbox')
    const inbox = await openInbox({ folder })
    const latencies: number[] = []
    // The fastest counts: a busy machine can only make it look slower.
    for (let turn = 0; turn < 3; turn++) {
      const child = asking(folder)
      const said = once(child.stdout as NonNullable<typeof child.stdout>, 'data')
      const closed = once(child, 'close')
      const [open] = await parked(inbox)
      expect(open).toMatchObject({
        state: 'open',
        question: { server: { id: 'mail' }, subject: { kind: 'call', args: { body: 'hello' } } },
      })
      const answeredAt = Date.now()
      await inbox.answer(open?.question.id ?? '', { kind: 'allow', scope: 'session', edited: { body: 'hi' }, by: 'phone' })
      const { answer, at } = JSON.parse(String((await said)[0])) as { answer: unknown; at: number }
      expect(answer).toEqual({ kind: 'allow', scope: 'session', edited: { body: 'hi' }, by: 'phone' })
      latencies.push(at - answeredAt)
      await closed
      expect(leftIn(folder)).toEqual([])
    }
    expect(Math.min(...latencies)).toBeLessThan(1_000)
  })

  test('a killed process leaves a question that is shown as abandoned, and can only be discarded', async () => {
    const folder = join(newFolder(), 'inbox')
    const inbox = await openInbox({ folder })
    const child = asking(folder)
    const id = (await parked(inbox))[0]?.question.id ?? ''
    await expect(inbox.discard(id)).rejects.toMatchObject({ code: 'ERR_CONSENT' })
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(await inbox.get(id)).toMatchObject({ state: 'abandoned' })
    await expect(inbox.answer(id, { kind: 'deny' })).rejects.toMatchObject({
      code: 'ERR_CONSENT',
      message: expect.stringContaining('has ended'),
    })
    await inbox.discard(id)
    expect(await inbox.list()).toEqual([])
  })
})

describe('an inbox', () => {
  test('an inbox accepts the first of two answers and tells the second', async () => {
    const folder = join(newFolder(), 'inbox')
    const asking = inboxAsker({ folder }).ask(question(), never)
    const inboxes = await Promise.all([openInbox({ folder }), openInbox({ folder })])
    const id = (await parked(inboxes[0]))[0]?.question.id ?? ''
    const tries = await Promise.allSettled(inboxes.map((inbox, at) => inbox.answer(id, { kind: 'deny', feedback: String(at) })))
    const answer = await asking
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(answer).toEqual({ kind: 'deny', feedback: String(tries.findIndex(({ status }) => status === 'fulfilled')), by: 'inbox' })
  })

  test('an inbox ignores unsigned files, and is not stopped by one', async () => {
    const folder = join(newFolder(), 'inbox')
    const warnings: string[] = []
    const asked = question()
    const asking = inboxAsker({ folder, onWarning: (text) => warnings.push(text) }).ask(asked, never)
    const inbox = await openInbox({ folder })
    await parked(inbox)
    const stray = join(folder, `${asked.id}.answer.json`)
    // Right in everything but the signature.
    const digest = createHash('sha256').update(canonicalJson(asked)).digest('hex')
    const payload = { id: asked.id, digest, answer: { kind: 'allow', scope: 'always' } }
    writeFileSync(stray, JSON.stringify({ payload, mac: 'ab'.repeat(32) }), { mode: 0o600 })
    while (existsSync(stray)) await sleep(5)
    const forged = question()
    const file = join(folder, `${forged.id}.question.json`)
    writeFileSync(file, JSON.stringify({ payload: { question: forged, asker: { pid: process.pid, machine: '' } }, mac: 'ab'.repeat(32) }), {
      mode: 0o600,
    })
    expect(await inbox.list()).toHaveLength(1)
    await inbox.answer(asked.id, { kind: 'cancel' })
    expect(await asking).toEqual({ kind: 'cancel', by: 'inbox' })
    expect(warnings.length).toBeGreaterThan(0)
  })

  test('an inbox does not accept an answer to another question with the same id', async () => {
    const folder = join(newFolder(), 'inbox')
    const id = randomId()
    const ours = inboxAsker({ folder }).ask(question({ id }), never)
    const inbox = await openInbox({ folder })
    await parked(inbox)
    const files = await openInboxFiles(folder, { ...DEFAULT_INBOX_LIMITS, ...FIXED_INBOX_LIMITS })
    await files.putAnswer(question({ id, reasons: ['something else'] }), { kind: 'allow', scope: 'always' })
    while (existsSync(join(folder, `${id}.answer.json`))) await sleep(5)
    await inbox.answer(id, { kind: 'deny' })
    expect(await ours).toMatchObject({ kind: 'deny' })
  })

  test('an inbox does not show withdrawn or expired questions', async () => {
    const folder = join(newFolder(), 'inbox')
    const inbox = await openInbox({ folder })
    const over = new AbortController()
    const withdrawn = inboxAsker({ folder }).ask(question(), over.signal)
    const id = (await parked(inbox))[0]?.question.id ?? ''
    over.abort(new Error('withdrawn'))
    await expect(withdrawn).rejects.toThrow('withdrawn')
    await expect(inbox.answer(id, { kind: 'deny' })).rejects.toMatchObject({ code: 'ERR_CONSENT' })
    const late = inboxAsker({ folder }).ask(question({ expiresAt: Date.now() + 50 }), never)
    await expect(late).rejects.toMatchObject({
      code: 'ERR_CONSENT',
      message: expect.stringContaining('in time: The model wants to call mail/send. Allow it?'),
    })
    expect(leftIn(folder)).toEqual([])
  })

  test('an inbox limits an approval to the offered scopes', async () => {
    const folder = join(newFolder(), 'inbox')
    const inbox = await openInbox({ folder })
    const asking = inboxAsker({ folder }).ask(question({ scopes: ['once'] }), never)
    const id = (await parked(inbox))[0]?.question.id ?? ''
    await expect(inbox.answer(id, { kind: 'allow', scope: 'always' })).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMS' })
    await inbox.answer(id, { kind: 'allow', scope: 'once' })
    await asking
  })

  test('an inbox limits number and size of its questions, in files of its owner only', async () => {
    proves('T-HOST-012')
    const folder = join(newFolder(), 'inbox')
    const asker = inboxAskerWith({ folder, limits: { parkedQuestions: 2 } }, { ...FIXED_INBOX_LIMITS, fileBytes: 20_000 })
    const over = new AbortController()
    const asking = [asker.ask(question(), over.signal), asker.ask(question(), over.signal)]
    const inbox = await openInbox({ folder })
    await parked(inbox, 2)
    await expect(asker.ask(question(), never)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('parkedQuestions'),
    })
    expect(await inbox.list()).toHaveLength(2)
    expect(readdirSync(folder).every((name) => (statSync(join(folder, name)).mode & 0o077) === 0)).toBe(true)
    over.abort(new Error('over'))
    await Promise.allSettled(asking)
    await expect(asker.ask(question({ reasons: ['x'.repeat(20_000)] }), never)).rejects.toMatchObject({
      code: 'ERR_LIMIT',
      message: expect.stringContaining('fileBytes'),
    })
    await expect(asker.ask(question({ id: '../../etc/passwd' }), never)).rejects.toMatchObject({ code: 'ERR_INVALID_PARAMS' })
    expect(leftIn(folder)).toEqual([])
  })

  test('an inbox reports changes', async () => {
    const folder = join(newFolder(), 'inbox')
    const inbox = await openInbox({ folder })
    const changed = new Promise<void>((resolve) => {
      const stop = inbox.watch(() => {
        stop()
        resolve()
      })
    })
    const over = new AbortController()
    const asking = inboxAsker({ folder }).ask(question(), over.signal)
    await changed
    over.abort(new Error('over'))
    await expect(asking).rejects.toThrow('over')
  })
})

test('an answer that does not fit the form is refused, and the question stays open', async () => {
  const folder = join(newFolder(), 'inbox')
  const inbox = await openInbox({ folder })
  const schema: FormSchema = { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] }
  const subject = { kind: 'form', message: 'Really?', schema, defaults: {}, warnings: [] } as const
  const answer = inboxAsker({ folder }).ask(question({ action: 'elicit.form', subject }), never)
  const id = (await parked(inbox))[0]?.question.id ?? ''
  const refused = { code: 'ERR_ANSWER_INVALID', message: expect.stringContaining('"sure" is required') }
  await expect(inbox.answer(id, { kind: 'allow', scope: 'once' })).rejects.toMatchObject(refused)
  await expect(inbox.answer(id, { kind: 'allow', scope: 'once', edited: 'yes' })).rejects.toMatchObject({ code: 'ERR_ANSWER_INVALID' })
  expect(await inbox.get(id)).toMatchObject({ state: 'open' })
  await inbox.answer(id, { kind: 'allow', scope: 'once', edited: { sure: true } })
  expect(await answer).toMatchObject({ edited: { sure: true } })
})
