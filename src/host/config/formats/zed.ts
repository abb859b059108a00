/** Zed: `context_servers` in its settings. */

import { literal } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext, ServerDraft } from '../format.ts'
import { Refused, within } from '../problem.ts'
import { readEntry } from '../read-entry.ts'
import { isObject, type Members, readMembers } from '../read-members.ts'

export const zed: ConfigFormat = {
  client: 'Zed',
  read: (document, reading) => {
    const servers = document.inner('context_servers')
    for (const [name, value] of servers?.entries() ?? []) {
      const where = within('context_servers', name)
      reading.server(name, where, () => server(value, where, reading))
    }
  },
}

function server(value: unknown, where: string, reading: FormatContext): ServerDraft {
  const entry = readMembers(value, where)
  entry.pass('source', 'settings', 'remote')
  if (!entry.has('command') && !entry.has('url')) {
    throw new Refused(where, 'The entry has no command or URL: only the Zed extension knows how to start this server')
  }
  const shape = { translate: literal, passed: ['path'] }
  // In older files the command is an object with its arguments.
  const command = isObject(value) ? value.command : undefined
  if (!isObject(command)) return finished(entry, readEntry(entry, shape, reading.problem), reading)
  const { path, ...others } = command
  const inner = readMembers({ command: path, ...others }, within(where, 'command'))
  const draft = readEntry(inner, shape, reading.problem)
  inner.finish(reading.problem)
  const isDisabled = entry.flag('enabled') === false
  return finished(entry, { ...draft, isDisabled: isDisabled || draft.isDisabled }, reading)
}

function finished(entry: Members, draft: ServerDraft, reading: FormatContext): ServerDraft {
  entry.finish(reading.problem)
  return draft
}
