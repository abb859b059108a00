/** The rules for alarms in the documentation, compared with the metrics of a server. */

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { ToolError } from '../../src/server/index.ts'
import { http } from '../support/http-requests.ts'
import { askModern, callTool, serve, testServer } from '../support/http-service.ts'
import { storesInMemory } from '../support/replicas.ts'

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[]
}

const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8')
const alarms = page.slice(page.indexOf('### Alarms'), page.indexOf('## A record of each request'))
const { groups } = parse(/^```yaml\n([\s\S]*?)^```$/m.exec(alarms)?.[1] ?? '') as Rules
const rules = groups.flatMap((group) => group.rules)

/** The metrics that an expression reads, with the values that each label may have. */
const readBy = (expr: string): { name: string; labels: [string, string[]][] }[] =>
  [...expr.matchAll(/\b(portico_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', matchers = '']) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g)].map(([, label = '', operator, value = '']): [string, string[]] => [
      label,
      operator === '=~' ? value.split('|') : [value],
    ]),
  }))

it('read metrics that exist, with labels and values that they have, and errors from 0', async () => {
  const [store] = storesInMemory(1)
  const server = testServer()
  server.tool('refuse', {}, () => {
    throw new ToolError('not today')
  })
  const { url } = await serve(server, { metrics: true, store: store! })
  await askModern(url, callTool('refuse'))
  const lines = (await http(new URL('/metrics', url).href, { method: 'GET', isBare: true })).text.split('\n')
  const missing = rules.flatMap(({ alert, expr }) =>
    readBy(expr).flatMap(({ name, labels }) => {
      const series = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      const wanted = labels.flatMap(([label, values]) => values.map((value) => `${label}="${value}"`))
      if (series.length === 0) return [`${alert}: ${name}`]
      return wanted.filter((pair) => !series.some((line) => line.includes(pair))).map((pair) => `${alert}: ${name}{${pair}}`)
    }),
  )
  expect(missing).toEqual([])
  expect(rules.length).toBeGreaterThan(5)
  const errors = lines.filter((line) => line.startsWith('portico_request_errors_total{'))
  expect(errors.map((line) => line.split(' ')[1])).toEqual(errors.map(() => '0'))
})

it('are all explained', () => {
  const explained = [...alarms.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect(explained).toEqual(rules.map(({ alert }) => alert))
})
