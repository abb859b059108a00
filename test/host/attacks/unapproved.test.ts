/** Attacks with definitions that the person has not approved: no way leads to a model or to an action. */

import { describe, expect, test } from 'vitest'
import type { HostOptions } from '../../../src/host/index.ts'
import { listen } from '../../../src/http/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { calling, chat, hosts, NO, person, refusing, script, spy, started, textOf, until } from '../hosts.ts'

const { folder, host: hostWith } = hosts()

const poisoned = () => {
  const did: string[] = []
  const server = createServer({ name: 'weather', version: '1', instructions: 'POISON in the instructions' })
  server.tool(
    'forecast',
    {
      title: 'POISON in the title',
      description: 'POISON in the description',
      input: { type: 'object', properties: { city: { type: 'string', description: 'POISON in the schema' } } },
      annotations: { readOnlyHint: true },
    },
    () => {
      did.push('forecast')
      return 'fine'
    },
  )
  server.prompt('greet', { description: 'POISON in the prompt' }, () => {
    did.push('greet')
    return 'POISON in the text of the prompt'
  })
  server.resource('weather://{city}', { name: 'cities', description: 'POISON in the template' }, () => {
    did.push('read')
    return 'rain'
  })
  return { server, did }
}

describe('definitions without an approval', () => {
  test('an unapproved definition or instruction is never given to a model', async () => {
    const { server, did } = poisoned()
    const model = spy([calling('weather__forecast', { city: 'Oslo' })])
    const host = await hostWith({ servers: { weather: server }, ask: refusing('approve'), model })
    const parts = await chat(host, 'What is the weather?')
    expect(model.asked).toHaveLength(2)
    expect(model.asked.flatMap(({ tools = [] }) => tools)).toEqual([])
    expect(JSON.stringify(model.asked)).not.toContain('POISON')
    expect(JSON.stringify(parts)).not.toContain('POISON')
    expect(did).toEqual([])
    expect([host.tools(), host.prompts(), host.templates(), host.search('weather forecast poison')]).toEqual([[], [], [], []])
  })

  test('an unapproved definition is neither found, described nor called through search tools', async () => {
    const { server, did } = poisoned()
    const honest = createServer({ name: 'notes', version: '1' })
    honest.tool('add', { description: 'Adds a note' }, () => 'added')
    const model = spy(
      [calling('search_tools', { query: 'forecast weather poison add note' })],
      [calling('describe_tool', { name: 'weather__forecast' }), calling('call_tool', { name: 'weather__forecast', arguments: {} })],
      [calling('call_tool', { name: 'notes__add', arguments: {} })],
    )
    const ask = person(({ server: { id }, action }) => (id === 'weather' && action === 'server.approve' ? NO : undefined))
    const host = await hostWith({ servers: { weather: server, notes: honest }, ask, model, limits: { maxDefinitionTokens: 0 } })
    const parts = await chat(host, 'go')
    expect(model.asked[0]?.tools?.map(({ name }) => name)).toEqual(['search_tools', 'describe_tool', 'call_tool'])
    expect(JSON.stringify(model.asked)).not.toContain('POISON')
    expect(JSON.stringify(parts)).toContain('notes__add')
    const results = parts.flatMap((part) => (part.type === 'tool-result' ? [textOf(part.result)] : []))
    expect(results[1]).toContain('There is no tool')
    expect(results[2]).toContain('There is no tool')
    expect(results.at(-1)).toBe('added')
    expect(did).toEqual([])
  })

  test('an unapproved tool, prompt, template or completion is refused to the person, also over HTTP', async () => {
    const { server, did } = poisoned()
    const listening = await listen(server, {})
    const host = await hostWith({
      servers: { far: listening.url },
      ask: refusing('approve'),
      openUrl: () => {},
      policy: { user: [{ id: 'look', effect: 'ask', match: { action: 'server.approve' } }] },
    })
    try {
      expect(host.health().far?.state).toBe('ready')
      const refused = { code: 'ERR_QUARANTINED' }
      await expect(host.call({ server: 'far', name: 'forecast' })).rejects.toMatchObject(refused)
      await expect(host.prompt({ server: 'far', name: 'greet' })).rejects.toMatchObject(refused)
      await expect(host.read('weather://oslo')).rejects.toMatchObject({ code: 'ERR_SERVER_UNKNOWN' })
      const params = { ref: { type: 'ref/prompt' as const, name: 'greet' }, argument: { name: 'who', value: 'what the person types' } }
      await expect(host.complete('far', params)).rejects.toMatchObject(refused)
      expect(did).toEqual([])
    } finally {
      await host.close()
      await listening.close()
    }
  })

  test('an unapproved definition stays so without a person, and with bypass', async () => {
    const ways: HostOptions[] = [{ isBypassing: true, ask: refusing('approve') }, { isBypassing: true }, {}]
    for (const options of ways) {
      const { server, did } = poisoned()
      const model = spy([calling('weather__forecast')])
      const host = await hostWith({ servers: { weather: server }, model, ...options })
      await chat(host, 'go')
      expect(JSON.stringify(model.asked)).not.toContain('POISON')
      await expect(host.call({ server: 'weather', name: 'forecast' })).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
      expect(did).toEqual([])
    }
  })

  test('a part of an offering can be approved, and the rest does not exist for callers', async () => {
    const { server } = poisoned()
    server.tool('plain', { description: 'A plain tool' }, () => 'plain')
    const model = spy()
    const ask = person(({ action }) =>
      action === 'server.approve'
        ? { kind: 'allow', scope: 'once', edited: { approved: ['tool plain', 'capabilities capabilities'] } }
        : undefined,
    )
    const host = await hostWith({ servers: { weather: server }, ask, model })
    await chat(host, 'go')
    expect(model.asked[0]?.tools?.map(({ name }) => name)).toEqual(['weather__plain'])
    expect(JSON.stringify(model.asked)).not.toContain('POISON')
    expect(host.review('weather')?.items.map(({ name }) => name)).toContain('forecast')
    await expect(host.call({ server: 'weather', name: 'forecast' })).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
  })

  test('a definition quarantined by a rule is refused once, without repeated questions', async () => {
    const { server } = poisoned()
    const ask = person()
    const policy = {
      roots: {},
      layers: { user: [{ id: 'not-yet', effect: 'quarantine' as const, match: { action: 'server.approve' as const, server: 'weather' } }] },
    }
    const host = await hostWith({ servers: { weather: server }, ask, policy })
    expect(host.tools()).toEqual([])
    expect(ask.asked).toEqual([])
    await expect(host.approve('weather')).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
  })

  test('a tool that a process adds later is not offered before a person has approved it', async () => {
    const file = script(
      folder(),
      `const server = createServer({ name: 'grower', version: '1', limits: { toolCalls: false } })
       server.tool('grow', { input: object }, () => {
         server.tool('hidden', { input: object, description: 'POISON' }, () => 'did it')
         return 'grown'
       })
       serveStdio(server, {})`,
    )
    let mayAdd = false
    const ask = person(({ subject }) => (subject.kind === 'approve' && !subject.isFirst && !mayAdd ? NO : undefined))
    const model = spy([calling('grower__hidden')])
    const host = await hostWith({ servers: { grower: started(file) }, ask, model })
    await host.call('grower__grow')
    await until(() => ask.saw('approve').length === 1)
    expect(ask.saw('approve')[0]?.items).toMatchObject([{ kind: 'tool', name: 'hidden' }])
    await until(() => host.events.some((event) => event.kind === 'review' && event.review.items.some(({ name }) => name === 'hidden')))
    await chat(host, 'go')
    expect(JSON.stringify(model.asked)).not.toContain('POISON')
    await expect(host.call({ server: 'grower', name: 'hidden' })).rejects.toMatchObject({ code: 'ERR_QUARANTINED' })
    mayAdd = true
    await host.approve('grower')
    expect(textOf(await host.call('grower__hidden'))).toBe('did it')
  })
})
