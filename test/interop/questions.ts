/** What our server asks through a client of another SDK: forms, pages, the model, the roots. */

import { expect } from 'vitest'
import { proves } from '../support/proves.ts'
import type { Feature } from './matrix.ts'
import type { ElicitAnswer, TheirClient } from './their-client.ts'

export interface QuestionsRun {
  testWorks(feature: Feature, name: string, run: () => Promise<void>): void
  /** For requirements of the revisions that have sessions. */
  provesInSession(...ids: string[]): void
  revision: string
  hasSession: boolean
  isReplicated: boolean
  client(): TheirClient
}

const FORM_SINCE = '2025-06-18'
const PAGES_SINCE = '2025-11-25'

export function testQuestions({ testWorks, provesInSession, revision, hasSession, isReplicated, client }: QuestionsRun): void {
  const textOf = async (name: string, args?: Record<string, unknown>): Promise<string | undefined> =>
    (await client().call(name, args)).content[0]?.text

  if (revision >= FORM_SINCE) {
    testWorks('elicit', `a form is shown, and its answer reaches the tool`, async () => {
      provesInSession('T-ELIC-001', 'T-ELIC-058')
      client().person.elicit = () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.org' } })
      expect(await textOf('test_elicitation', { message: 'Who are you?' })).toBe(
        'User response: action=accept, content={"username":"ada","email":"ada@example.org"}',
      )
      expect(client().asked.items).toMatchObject([
        {
          method: 'elicitation/create',
          params: { message: 'Who are you?', requestedSchema: { type: 'object', required: ['username', 'email'] } },
        },
      ])
    })

    testWorks('elicit', `declining and cancelling a form are different answers`, async () => {
      provesInSession('T-ELIC-059', 'T-ELIC-060')
      for (const action of ['decline', 'cancel'] as const) {
        client().person.elicit = () => ({ action })
        expect(await textOf('test_elicitation', { message: 'Who are you?' })).toContain(`action=${action}`)
      }
    })

    testWorks('elicit', 'choices and defaults of every form are understood', async () => {
      client().person.elicit = () => ({ action: 'accept', content: {} })
      const withDefaults = await textOf('test_elicitation_sep1034_defaults')
      const all = { name: 'John Doe', age: 30, score: 95.5, status: 'active', verified: true }
      // Before, only switches had a default.
      const content = revision >= PAGES_SINCE ? all : { verified: true }
      expect(withDefaults).toBe(`Elicitation completed: ${JSON.stringify({ action: 'accept', content })}`)
      const several = revision >= PAGES_SINCE ? ['value1', 'value3'] : 'value1, value3'
      client().person.elicit = () => ({
        action: 'accept',
        content: { untitledSingle: 'option2', titledSingle: 'value1', legacyEnum: 'opt3', titledMulti: several },
      })
      const chosen = await textOf('test_elicitation_sep1330_enums')
      expect(JSON.parse(chosen?.replace('Elicitation completed: ', '') ?? '')).toEqual({
        action: 'accept',
        content: { untitledSingle: 'option2', titledSingle: 'value1', legacyEnum: 'opt3', titledMulti: ['value1', 'value3'] },
      })
    })

    testWorks('elicit', 'questions of three kinds at once, and one after another, come to one result', async () => {
      client().person.elicit = ({ message }): ElicitAnswer =>
        String(message).includes('colour')
          ? { action: 'accept', content: { color: 'red' } }
          : { action: 'accept', content: { name: 'Ada' } }
      expect(await textOf('test_input_required_result_multiple_inputs')).toBe('["user_name","greeting","roots"]')
      expect(
        client()
          .asked.items.map(({ method }) => method)
          .sort(),
      ).toEqual(['elicitation/create', 'roots/list', 'sampling/createMessage'])
      expect(await textOf('test_input_required_result_multi_round')).toBe('Ada likes red')
    })

    testWorks('elicit', 'a prompt may ask as well', async () => {
      client().person.elicit = () => ({ action: 'accept', content: { context: 'a test' } })
      expect(await client().prompt('test_input_required_result_prompt')).toMatchObject([{ content: { text: 'Use this context: a test' } }])
    })
  } else {
    testWorks('elicit', 'a form is never sent where the revision has none, and the tool says why it fails', async () => {
      proves('T-VER-016')
      await expect(client().call('test_elicitation', { message: 'Who are you?' })).rejects.toMatchObject({
        message: expect.stringContaining('cannot show one (elicitation'),
      })
      expect(client().asked.items).toEqual([])
    })
  }

  const url = 'https://example.com/connect?id=1'
  if (revision >= PAGES_SINCE) {
    testWorks('url', 'a page is offered to the person, and the tool learns of the answer', async () => {
      client().person.elicit = () => ({ action: 'accept' })
      expect(await textOf('test_url_elicitation', { url })).toBe('The person agreed')
      expect(client().asked.items).toMatchObject([{ params: { mode: 'url', url, message: 'Please visit this page' } }])
      client().person.elicit = () => ({ action: 'decline' })
      expect(await client().call('test_url_elicitation', { url })).toMatchObject({ isError: true })
    })
  } else {
    testWorks('url', 'a page is never sent where the revision has none', async () => {
      proves('T-VER-016')
      await expect(client().call('test_url_elicitation', { url })).rejects.toMatchObject({
        message: expect.stringContaining('cannot show one (elicitation.url)'),
      })
      expect(client().asked.items).toEqual([])
      expect(await client().call('test_url_required', { url })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining(url) }],
      })
    })
  }
  if (revision === PAGES_SINCE) {
    testWorks('url', 'a required page is an error, its completion is announced, and the call then works', async () => {
      proves('T-ELIC-042', 'T-ELIC-044', 'T-ELIC-048', 'T-ELIC-050', 'T-ELIC-051')
      const failure = await client()
        .call('test_url_required', { url })
        .catch((error: unknown) => error)
      expect(failure).toMatchObject({
        code: -32042,
        data: { elicitations: [{ mode: 'url', url, message: 'Please visit this page first', elicitationId: expect.any(String) }] },
      })
      const { elicitationId } = (failure as { data: { elicitations: [{ elicitationId: string }] } }).data.elicitations[0]
      const told = client().completed.next()
      await client().call('complete_page', { elicitationId })
      expect(await told).toBe(elicitationId)
      // The tool remembers in its own process that the page was visited.
      if (!isReplicated) expect(await textOf('test_url_required', { url })).toBe('The page was visited')
    })
  }
  if (!hasSession) {
    testWorks('url', 'a page that must come first is asked for in the answer, and the call then works', async () => {
      client().person.elicit = () => ({ action: 'accept' })
      expect(await textOf('test_url_required', { url })).toBe('The page was visited')
      const asked = isReplicated ? client().asked.items.slice(0, 1) : client().asked.items
      expect(asked).toMatchObject([{ params: { mode: 'url', url, message: 'Please visit this page first' } }])
    })
  }

  testWorks('sample', `a tool has the client's model answer`, async () => {
    provesInSession('T-SAMP-001')
    expect(await textOf('test_sampling', { prompt: 'Say hello' })).toBe('LLM response: The model answers')
    expect(client().asked.items).toMatchObject([
      {
        method: 'sampling/createMessage',
        params: { messages: [{ role: 'user', content: { type: 'text', text: 'Say hello' } }], maxTokens: 100 },
      },
    ])
  })

  const rootsName = hasSession
    ? "a tool sees the client's roots, and new ones once it is told of them"
    : "a tool sees the client's roots as they are at each call"
  testWorks('roots', rootsName, async () => {
    provesInSession('T-ROOT-009', 'T-ROOT-029')
    const rootsSeen = async (): Promise<unknown> => JSON.parse((await textOf('test_roots')) ?? '')
    await client().setRoots([{ uri: 'file:///project/one', name: 'One' }])
    expect(await rootsSeen()).toEqual({ roots: [{ uri: 'file:///project/one', name: 'One' }] })
    await rootsSeen()
    expect(client().asked.items).toHaveLength(hasSession && !isReplicated ? 1 : 2)
    await client().setRoots([{ uri: 'file:///project/two' }, { uri: 'file:///project/three' }])
    expect(await rootsSeen()).toEqual({ roots: [{ uri: 'file:///project/two' }, { uri: 'file:///project/three' }] })
  })
}
