/** Continue: `mcpServers` in YAML is a list; each entry contains its name. */

import type { Dialect, Draft, Reading } from '../dialect.ts'
import { readEntry } from '../entry.ts'
import { doubleCurly } from '../foreign-text.ts'
import { isObject, type Members, membersOf } from '../members.ts'

export const continueDev: Dialect = {
  client: 'Continue',
  read: (document, reading) => {
    document.list('mcpServers')?.forEach((value, i) => {
      const where = `mcpServers[${i}]`
      const name = isObject(value) && typeof value.name === 'string' ? value.name : `server ${i + 1}`
      reading.server(name, where, () => server(membersOf(value, where), reading))
    })
  },
}

function server(entry: Members, reading: Reading): Draft {
  const requestOptions = entry.inner('requestOptions')
  const headers = requestOptions?.table('headers')
  const draft = readEntry(
    entry,
    { translate: doubleCurly, passed: ['name', 'connectionTimeout', 'faviconUrl', 'sourceFile'] },
    reading.problem,
  )
  if (headers && draft.transport.type === 'http') {
    const texts = Object.entries(headers).map(([name, text]) => [name, doubleCurly(text, `${entry.where}.requestOptions.headers`)])
    draft.transport = { ...draft.transport, headers: { ...Object.fromEntries(texts), ...draft.transport.headers } }
  }
  requestOptions?.finish(reading.problem)
  entry.finish(reading.problem)
  return draft
}
