/** A host as programs use it: real servers, real files, and a person who is a function. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { createHost, type HostOptions } from '../../src/host/index.ts'
import type { ModelRequest } from '../../src/host/language-models/language-model.ts'
import type { Answer, Question } from '../../src/host/model/question.ts'
import type { ServerSpec } from '../../src/host/model/server-spec.ts'
import type { Service } from '../../src/protocol/interfaces/service.ts'
import { createServer } from '../../src/server/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { proves } from '../support/proves.ts'

const temporaryFolder = temporaryFolders()

const notes = () => {
  const server = createServer({ name: 'notes', version: '1.0.0' })
  const kept: string[] = []
  server.tool(
    'add',
    { description: 'Adds a note', input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
    ({ text }) => {
      kept.push(String(text))
      return `Note ${kept.length} is kept`
    },
  )
  server.tool('list', { description: 'Lists all notes', annotations: { readOnlyHint: true } }, () => kept.join('\n'))
  return { server, kept }
}

/** Says yes once to everything, unless told otherwise. */
const agreeing = (answer: (question: Question) => Answer | undefined = () => undefined) => {
  const asked: Question[] = []
  return {
    asked,
    ask: async (question: Question): Promise<Answer> => {
      asked.push(question)
      return answer(question) ?? { kind: 'allow', scope: 'once' }
    },
  }
}

const hostOf = async (options: HostOptions) => {
  const folder = temporaryFolder()
  const host = await createHost({ folder, keychain: false, ...options })
  onTestFinished(() => host.close())
  await host.settled()
  return host
}

const untrusted = (service: Service): Omit<ServerSpec, 'id'> => ({
  tier: 'untrusted',
  provenance: [],
  transport: { type: 'memory', service },
})

describe('the offering of a server', () => {
  test('the offering of a server reaches no model before a person has seen all of it', async () => {
    proves('T-HOST-004')
    const { server } = notes()
    const requests: ModelRequest[] = []
    const spy = {
      id: 'spy',
      label: 'a spy',
      async *stream(request: ModelRequest) {
        requests.push(request)
        yield { type: 'end', reason: 'endTurn', usage: { inputTokens: 0, outputTokens: 0 } } as const
      },
    }
    const person = agreeing((question) => (question.action === 'server.approve' ? { kind: 'deny' } : undefined))
    const host = await hostOf({ servers: { notes: untrusted(server) }, ask: person, model: spy })
    for await (const _ of host.chat('hello')) void _
    expect(requests).toHaveLength(1)
    expect(JSON.stringify(requests)).not.toContain('Adds a note')
    const [question] = person.asked
    expect(question?.subject).toMatchObject({ kind: 'approve', isFirst: true })
    expect(JSON.stringify(question)).toContain('Adds a note')
    await expect(host.call({ server: 'notes', name: 'add' }, { text: 'x' })).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
  })

  test('an approved tool can be called by the person, and the call is asked about and logged', async () => {
    const { server, kept } = notes()
    const person = agreeing()
    const host = await hostOf({ servers: { notes: untrusted(server) }, ask: person })
    const result = await host.call('notes__add', { text: 'milk' })
    expect(result.content).toEqual([{ type: 'text', text: 'Note 1 is kept' }])
    expect(kept).toEqual(['milk'])
    expect(person.asked.map(({ action }) => action)).toEqual(['server.approve', 'tool.call'])
  })

  test('a server in this process is trusted unless the developer says otherwise', async () => {
    const { server } = notes()
    const person = agreeing()
    const host = await hostOf({ servers: { own: server, other: untrusted(notes().server) }, ask: person })
    expect(host.specs().map(({ id, tier }) => `${id}: ${tier}`)).toEqual(['other: untrusted', 'own: trusted'])
    await host.call('own__add', { text: 'milk' }, { as: 'person' })
    expect(person.asked.filter(({ action }) => action === 'tool.call')).toEqual([])
    await host.call('other__add', { text: 'milk' }, { as: 'person' })
    expect(person.asked.at(-1)?.subject).toMatchObject({ kind: 'call', destination: 'outside' })
  })
})
