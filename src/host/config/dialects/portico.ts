/**
 * `mcpServers` as everybody has it, with what only a host that asks can use. Our own list may say all of it, and is also
 * written here. A file of anybody else may not say whom to trust, which folders to give away or which secrets to use.
 */

import { McpError } from '../../../protocol/errors.ts'
import type { ToolAnnotations } from '../../../protocol/model/tools.ts'
import { partsOf } from '../../launch/placeholder.ts'
import type { ConfigProvenance, InputSpec, ServerSpec } from '../../model/server-spec.ts'
import type { Dialect, Draft, Reading } from '../dialect.ts'
import { readEntries, readEntry, timeoutIn } from '../entry.ts'
import { type Members, membersOf } from '../members.ts'
import { Refused, within } from '../problem.ts'

const dialect = (client: string, isOurs: boolean): Dialect => ({
  client,
  read: (document, reading) => {
    readEntries(document.inner('mcpServers'), reading, (entry) => (isOurs ? server : foreignServer)(entry, reading))
    document.pass('$schema', 'version')
    document.finish(reading.problem)
  },
})

export const portico: Dialect = dialect('Portico', true)

/** A file of this shape that belongs to no client we know: it may come with a project. */
export const mcpServersFile: Dialect = dialect('mcpServers', false)

/** What only the person who runs the host can say. */
const OPERATORS = ['tier', 'roots', 'asserted', 'dataFiles', 'provenance']

function foreignServer(entry: Members, reading: Reading): Draft {
  for (const name of OPERATORS) {
    if (entry.has(name)) reading.problem(within(entry.where, name), 'Only your own list of servers can say this; it is left out')
  }
  const title = entry.text('title')
  const labels = entry.texts('labels')
  const timeoutMs = timeoutIn(entry, 'timeoutMs', 1)
  const inputs = each(entry, 'inputs', inputIn)
  const draft = readEntry(entry, { translate: withoutSecrets }, reading.problem)
  return {
    ...draft,
    ...(title !== undefined && { title }),
    ...(labels && { labels }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(inputs && { inputs }),
  }
}

function withoutSecrets(text: string, where: string): string {
  if (partsOf(text).some((part) => 'placeholder' in part && part.placeholder.kind === 'secret'))
    throw new Refused(where, 'It uses a secret of your vault, which only your own list of servers can do')
  return text
}

function server(entry: Members, reading: Reading): Draft {
  const title = entry.text('title')
  const tier = entry.text('tier')
  if (tier !== undefined && tier !== 'trusted' && tier !== 'untrusted') {
    throw new Refused(within(entry.where, 'tier'), 'trusted or untrusted was expected')
  }
  const labels = entry.texts('labels')
  const roots = entry.texts('roots')
  const dataFiles = entry.texts('dataFiles')
  const timeoutMs = timeoutIn(entry, 'timeoutMs', 1)
  const asserted = assertedIn(entry)
  const inputs = each(entry, 'inputs', inputIn)
  const provenance = each(entry, 'provenance', provenanceIn)
  const draft = readEntry(entry, { translate: (text) => text }, reading.problem)
  return {
    ...draft,
    ...(title !== undefined && { title }),
    ...(tier !== undefined && { tier }),
    ...(labels && { labels }),
    ...(roots && { roots }),
    ...(dataFiles && { dataFiles }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(asserted && { asserted }),
    ...(inputs && { inputs }),
    ...(provenance && { provenance }),
  }
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

function assertedIn(entry: Members): Record<string, ToolAnnotations> | undefined {
  const asserted = entry.inner('asserted')
  if (!asserted) return undefined
  const tools = asserted.entries().map(([tool, value]): [string, ToolAnnotations] => {
    const said = membersOf(value, within(asserted.where, tool))
    const title = said.text('title')
    const hints = HINTS.flatMap((hint) => (said.has(hint) ? [[hint, said.flag(hint)]] : []))
    // A hint that is misspelt would be a hint that is not there, and this one is believed.
    said.finish((where) => {
      throw new Refused(where, `One of ${HINTS.join(', ')} was expected`)
    })
    return [tool, { ...(title !== undefined && { title }), ...Object.fromEntries(hints) }]
  })
  return Object.fromEntries(tools)
}

const each = <T>(entry: Members, name: string, read: (value: Members) => T): T[] | undefined =>
  entry.list(name)?.map((value, i) => read(membersOf(value, `${within(entry.where, name)}[${i}]`)))

function inputIn(input: Members): InputSpec {
  const id = input.text('id')
  if (id === undefined) throw new Refused(input.where, 'An input without an id')
  const description = input.text('description')
  const fallback = input.text('default')
  const options = input.texts('options')
  return {
    id,
    isSecret: input.flag('isSecret') ?? true,
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback }),
    ...(options && { options }),
  }
}

const SCOPES = ['user', 'project', 'managed', 'ours'] as const

function provenanceIn(from: Members): ConfigProvenance {
  const client = from.text('client')
  const file = from.text('file')
  const said = from.text('scope')
  const scope = SCOPES.find((each) => each === said)
  if (client === undefined || file === undefined || !scope) throw new Refused(from.where, 'client, scope and file were expected')
  return { client, scope, file }
}

/** The entry that the dialect reads as this server. */
export function entryOf(spec: ServerSpec): Record<string, unknown> {
  const { id, transport, isDisabled, tier, title, labels, roots, dataFiles, asserted, timeoutMs, inputs, provenance } = spec
  if (transport.type === 'memory') throw new McpError('ERR_CONFIG', `${id} is a server in this process, which no file can hold`)
  return {
    ...transport,
    tier,
    ...(title !== undefined && { title }),
    ...(isDisabled && { disabled: true }),
    ...(labels && { labels }),
    ...(roots && { roots }),
    ...(dataFiles && { dataFiles }),
    ...(asserted && { asserted }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(inputs?.length && { inputs }),
    ...(provenance.length && { provenance }),
  }
}
