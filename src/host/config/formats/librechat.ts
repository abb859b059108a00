/** LibreChat: `mcpServers` in YAML, with values that each user enters. */

import type { InputSpec } from '../../model/server-spec.ts'
import { placeholderText } from '../../server-command/placeholder.ts'
import { braced, type Translate } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext, ServerDraft } from '../format.ts'
import { Refused, within } from '../problem.ts'
import { readEntries, readEntry } from '../read-entry.ts'
import { type Members, readMembers } from '../read-members.ts'

export const librechat: ConfigFormat = {
  client: 'LibreChat',
  read: (document, reading) => readEntries(document.inner('mcpServers'), reading, (entry) => server(entry, reading)),
}

const PASSED = ['iconPath', 'chatMenu', 'serverInstructions', 'initTimeout', 'startup', 'requiresOAuth', 'stderr', 'sseReadTimeout']

function server(entry: Members, reading: FormatContext): ServerDraft {
  const inputs: InputSpec[] = (entry.inner('customUserVars')?.entries() ?? []).map(([id, value]) => {
    const description = readMembers(value, within(entry.where, id)).text('title')
    return { id, isSecret: true, description }
  })
  const title = entry.text('title')
  const asked = new Set(inputs.map(({ id }) => id))
  const draft = readEntry(entry, { translate: withUserValues(asked), passed: PASSED }, reading.problem)
  return { ...draft, inputs, title }
}

const USER_VALUE = /\{\{([^\s{}:$]{1,128})\}\}/g

/** `{{NAME}}` is a value of the LibreChat user. Values that LibreChat asks for become inputs here. */
function withUserValues(asked: ReadonlySet<string>): Translate {
  const translate = braced()
  return (text, where) =>
    // Our own syntax has no double braces, so placeholders that are already translated do not match.
    translate(text, where).replace(USER_VALUE, (_match, name: string) => {
      if (asked.has(name)) return placeholderText({ kind: 'input', name })
      throw new Refused(where, 'The text uses a value of the LibreChat user, which only LibreChat can fill in')
    })
}
