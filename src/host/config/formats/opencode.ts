/** opencode: `mcp` has servers by name; the command is a list that includes the arguments. */

import { curly } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext, ServerDraft } from '../format.ts'
import { Refused, within } from '../problem.ts'
import { httpTransport, LOGIN_IGNORED, negated, readEntries, readTimeout, stdioTransport } from '../read-entry.ts'
import type { Members } from '../read-members.ts'

export const opencode: ConfigFormat = {
  client: 'opencode',
  read: (document, reading) => readEntries(document.inner('mcp'), reading, (entry) => server(entry, reading)),
}

function server(entry: Members, reading: FormatContext): ServerDraft | undefined {
  const type = entry.text('type')
  const isDisabled = negated(entry.flag('enabled'))
  const timeoutMs = readTimeout(entry, 'timeout', 1)
  const rest = { isDisabled, timeoutMs }
  if (entry.has('oauth')) reading.problem(within(entry.where, 'oauth'), LOGIN_IGNORED)
  if (type === 'remote') {
    const url = entry.text('url')
    if (url === undefined) throw new Refused(entry.where, 'The type is remote, but the entry has no url')
    return { transport: httpTransport(entry.where, { url, headers: entry.table('headers') }, curly), ...rest }
  }
  if (type === 'local') {
    const [command, ...args] = entry.texts('command') ?? []
    if (command === undefined) throw new Refused(entry.where, 'The type is local, but the entry has no command')
    return {
      transport: stdioTransport(entry.where, { command, args, env: entry.table('environment'), cwd: entry.text('cwd') }, curly),
      ...rest,
    }
  }
  // An entry without a type only enables or disables a server that another file defines.
  if (type === undefined && isDisabled !== undefined) return undefined
  throw new Refused(within(entry.where, 'type'), 'Expected local or remote')
}
