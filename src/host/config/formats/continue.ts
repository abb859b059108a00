/** Continue: `mcpServers` in YAML is a list; each entry contains its name. */

import { doubleCurly } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext, ServerDraft } from '../format.ts'
import { readEntry } from '../read-entry.ts'
import { isObject, type Members, readMembers } from '../read-members.ts'

export const continueDev: ConfigFormat = {
  client: 'Continue',
  read: (document, reading) => {
    document.list('mcpServers')?.forEach((value, i) => {
      const where = `mcpServers[${i}]`
      const name = isObject(value) && typeof value.name === 'string' ? value.name : `server ${i + 1}`
      reading.server(name, where, () => server(readMembers(value, where), reading))
    })
  },
}

function server(entry: Members, reading: FormatContext): ServerDraft {
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
