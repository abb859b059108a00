import { describe, expect, test } from 'vitest'
import { METHODS } from '../../src/protocol/methods.ts'
import { REVISIONS } from '../../src/revisions/index.ts'
import { proves } from '../support/proves.ts'
import { definitionsOf, hasPublishedSchemas } from '../support/published-schemas.ts'

const sentBy = (from: 'client' | 'server', kind: 'request' | 'notification'): string[] =>
  [...METHODS.values()].filter((row) => row.kind === kind && (row.from === from || row.from === 'either')).map(({ method }) => method)

describe('the table of methods', () => {
  test('the table of methods has the requests of a client', () => {
    proves('T-BASE-039')
    expect(sentBy('client', 'request').toSorted()).toEqual(
      [
        'completion/complete',
        'initialize',
        'logging/setLevel',
        'ping',
        'prompts/get',
        'prompts/list',
        'resources/list',
        'resources/read',
        'resources/subscribe',
        'resources/templates/list',
        'resources/unsubscribe',
        'server/discover',
        'subscriptions/listen',
        'tools/call',
        'tools/list',
      ].toSorted(),
    )
  })

  test('the table of methods has the notifications of a client', () => {
    proves('T-BASE-040')
    expect(sentBy('client', 'notification').toSorted()).toEqual([
      'notifications/cancelled',
      'notifications/initialized',
      'notifications/progress',
      'notifications/roots/list_changed',
    ])
  })

  test('the table of methods has the requests of a server', () => {
    proves('T-BASE-042', 'T-SAMP-009', 'T-ELIC-015')
    expect(sentBy('server', 'request').toSorted()).toEqual(['elicitation/create', 'ping', 'roots/list', 'sampling/createMessage'])
  })

  test('the table of methods has the notifications of a server', () => {
    proves('T-BASE-043', 'T-LOG-008')
    expect(sentBy('server', 'notification').toSorted()).toEqual([
      'notifications/cancelled',
      'notifications/elicitation/complete',
      'notifications/message',
      'notifications/progress',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
      'notifications/resources/updated',
      'notifications/subscriptions/acknowledged',
      'notifications/tools/list_changed',
    ])
  })

  test.each([...METHODS])('%s has a row that agrees with its name', (method, row) => {
    expect(row.method).toBe(method)
    expect(row.kind === 'notification').toBe(method.startsWith('notifications/'))
    expect(row.feature).toBe(row.capability?.split('.')[0])
    if (row.mayAsk) expect(row.target).toBeDefined()
  })

  test.each([...METHODS.keys()])('%s exists in some revision', (method) => {
    expect(REVISIONS.some((revision) => revision.has(method))).toBe(true)
  })

  test('the table of methods names the capability that each needs', () => {
    const needing = (capability: string): string[] =>
      [...METHODS.values()].filter((row) => row.capability === capability).map(({ method }) => method)
    expect(needing('resources.subscribe')).toEqual(['resources/subscribe', 'resources/unsubscribe', 'notifications/resources/updated'])
    expect(needing('tools.listChanged')).toEqual(['notifications/tools/list_changed'])
    expect(needing('roots.listChanged')).toEqual(['notifications/roots/list_changed'])
    expect(needing('completions')).toEqual(['completion/complete'])
    expect(needing('elicitation')).toEqual(['elicitation/create'])
  })
})

test('every method of every published schema has a row, and every row a definition', () => {
  if (!hasPublishedSchemas) return console.warn('NOTE: not judged by the published schemas, which are not here')
  // Tasks of 2025-11-25 were experimental and became an extension.
  const left = ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel', 'notifications/tasks/status']
  for (const { version, has } of REVISIONS) {
    const published = definitionsOf(version)
    for (const method of METHODS.keys()) expect(published.definitionOf(method) !== undefined, `${method} in ${version}`).toBe(has(method))
    for (const name of published.names) {
      const method = left.find((each) => published.definitionOf(each) === name)
      if (method) expect(has(method)).toBe(false)
    }
  }
})
