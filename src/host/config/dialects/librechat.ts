/** LibreChat: `mcpServers` in YAML, with values that each user is asked for. */

import { placeholderText } from '../../launch/placeholder.ts'
import type { InputSpec } from '../../model/server-spec.ts'
import type { Dialect, Draft, Reading } from '../dialect.ts'
import { readEntries, readEntry } from '../entry.ts'
import { braced, type Translate } from '../foreign-text.ts'
import { type Members, membersOf } from '../members.ts'
import { Refused, within } from '../problem.ts'

export const librechat: Dialect = {
  client: 'LibreChat',
  read: (document, reading) => readEntries(document.inner('mcpServers'), reading, (entry) => server(entry, reading)),
}

const PASSED = ['iconPath', 'chatMenu', 'serverInstructions', 'initTimeout', 'startup', 'requiresOAuth', 'stderr', 'sseReadTimeout']

function server(entry: Members, reading: Reading): Draft {
  const inputs: InputSpec[] = (entry.inner('customUserVars')?.entries() ?? []).map(([id, value]) => {
    const description = membersOf(value, within(entry.where, id)).text('title')
    return { id, isSecret: true, ...(description !== undefined && { description }) }
  })
  const title = entry.text('title')
  const asked = new Set(inputs.map(({ id }) => id))
  const draft = readEntry(entry, { translate: withUserValues(asked), passed: PASSED }, reading.problem)
  return { ...draft, inputs, ...(title !== undefined && { title }) }
}

const USER_VALUE = /\{\{([^\s{}:$]{1,128})\}\}/g

/** `{{NAME}}` is a value of the user who is logged in there; those that they were asked for can be asked for here. */
function withUserValues(asked: ReadonlySet<string>): Translate {
  const translate = braced()
  return (text, where) =>
    // Our own syntax has no doubled braces, so that what was translated already is not found.
    translate(text, where).replace(USER_VALUE, (_match, name: string) => {
      if (asked.has(name)) return placeholderText({ kind: 'input', name })
      throw new Refused(where, 'It uses a value of a LibreChat user, which only LibreChat can fill')
    })
}
