/**
 * Our own list of servers: `mcpServers` with additional members. Only the person's own list may set trust, roots and secrets; other
 * files of this shape may not.
 */

import { McpError } from '../../../protocol/errors.ts'
import type { ToolAnnotations } from '../../../protocol/model/tools.ts'
import { selectRevisions } from '../../../revisions/index.ts'
import type { ConfigProvenance, InputSpec, ServerSpec } from '../../model/server-spec.ts'
import { partsOf } from '../../server-command/placeholder.ts'
import type { ConfigFormat, FormatContext, ServerDraft } from '../format.ts'
import { Refused, within } from '../problem.ts'
import { readEntries, readEntry, readTimeout } from '../read-entry.ts'
import { type Members, readMembers } from '../read-members.ts'

const format = (client: string, isOurs: boolean): ConfigFormat => ({
  client,
  read: (document, reading) => {
    readEntries(document.inner('mcpServers'), reading, (entry) => (isOurs ? server : foreignServer)(entry, reading))
    document.pass('$schema', 'version')
    document.finish(reading.problem)
  },
})

export const portico: ConfigFormat = format('Portico', true)

/** A file of this shape from an unknown source. It may have come with a project. */
export const mcpServersFile: ConfigFormat = format('mcpServers', false)

/** Members that only the person's own list may set. */
const OWNER_MEMBERS = ['tier', 'roots', 'asserted', 'dataFiles', 'revisions', 'provenance']

function foreignServer(entry: Members, reading: FormatContext): ServerDraft {
  for (const name of OWNER_MEMBERS) {
    if (entry.has(name)) reading.problem(within(entry.where, name), 'Ignored: only your own list of servers can set this')
  }
  const title = entry.text('title')
  const labels = entry.texts('labels')
  const timeoutMs = readTimeout(entry, 'timeoutMs', 1)
  const inputs = each(entry, 'inputs', readInput)
  const draft = readEntry(entry, { translate: withoutSecrets }, reading.problem)
  return { ...draft, title, labels, timeoutMs: timeoutMs ?? draft.timeoutMs, inputs }
}

function withoutSecrets(text: string, where: string): string {
  if (partsOf(text).some((part) => 'placeholder' in part && part.placeholder.kind === 'secret'))
    throw new Refused(where, 'The text uses a secret of your vault: only your own list of servers can do that')
  return text
}

function server(entry: Members, reading: FormatContext): ServerDraft {
  const title = entry.text('title')
  const tier = entry.text('tier')
  if (tier !== undefined && tier !== 'trusted' && tier !== 'untrusted') {
    throw new Refused(within(entry.where, 'tier'), 'Expected trusted or untrusted')
  }
  const labels = entry.texts('labels')
  const roots = entry.texts('roots')
  const dataFiles = entry.texts('dataFiles')
  const timeoutMs = readTimeout(entry, 'timeoutMs', 1)
  const revisions = readRevisions(entry)
  const asserted = readAssertedHints(entry)
  const inputs = each(entry, 'inputs', readInput)
  const provenance = each(entry, 'provenance', readProvenance)
  const draft = readEntry(entry, { translate: (text) => text }, reading.problem)
  const type = entry.text('type')
  return {
    ...draft,
    ...(draft.transport.type === 'http' && (type === 'sse' || type === 'streamable-http') && { httpTransport: type }),
    title,
    tier,
    labels,
    roots,
    dataFiles,
    timeoutMs: timeoutMs ?? draft.timeoutMs,
    revisions,
    asserted,
    inputs,
    provenance,
  }
}

/** A revision that is not known must not be ignored: the person wants this one and no other. */
function readRevisions(entry: Members): readonly string[] | undefined {
  const revisions = entry.texts('revisions')
  if (revisions === undefined) return undefined
  try {
    return selectRevisions(revisions).map(({ version }) => version)
  } catch (error) {
    throw new Refused(within(entry.where, 'revisions'), (error as Error).message)
  }
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const

function readAssertedHints(entry: Members): Record<string, ToolAnnotations> | undefined {
  const asserted = entry.inner('asserted')
  if (!asserted) return undefined
  const tools = asserted.entries().map(([tool, value]): [string, ToolAnnotations] => {
    const said = readMembers(value, within(asserted.where, tool))
    const title = said.text('title')
    const hints = HINTS.flatMap((hint) => (said.has(hint) ? [[hint, said.flag(hint)]] : []))
    // These hints are trusted, so a misspelled one must not be ignored.
    said.finish((where) => {
      throw new Refused(where, `Unknown hint: expected one of ${HINTS.join(', ')}`)
    })
    return [tool, { title, ...Object.fromEntries(hints) }]
  })
  return Object.fromEntries(tools)
}

const each = <T>(entry: Members, name: string, read: (value: Members) => T): T[] | undefined =>
  entry.list(name)?.map((value, i) => read(readMembers(value, `${within(entry.where, name)}[${i}]`)))

function readInput(input: Members): InputSpec {
  const id = input.text('id')
  if (id === undefined) throw new Refused(input.where, 'The input has no id')
  const description = input.text('description')
  const fallback = input.text('default')
  const options = input.texts('options')
  return { id, isSecret: input.flag('isSecret') ?? true, description, default: fallback, options }
}

const SCOPES = ['user', 'project', 'managed', 'ours'] as const

function readProvenance(from: Members): ConfigProvenance {
  const client = from.text('client')
  const file = from.text('file')
  const said = from.text('scope')
  const scope = SCOPES.find((each) => each === said)
  if (client === undefined || file === undefined || !scope) throw new Refused(from.where, 'Expected client, scope and file')
  return { client, scope, file }
}

/** The entry for this server in our own list. Members without a value are left out of the file. */
export function writeEntry(spec: ServerSpec): Record<string, unknown> {
  const {
    id,
    transport,
    httpTransport,
    isDisabled,
    tier,
    title,
    labels,
    roots,
    dataFiles,
    asserted,
    timeoutMs,
    revisions,
    inputs,
    provenance,
  } = spec
  if (transport.type === 'memory') throw new McpError('ERR_CONFIG', `${id} is a server in this process: it cannot be written to a file`)
  return {
    ...transport,
    // As other clients call it.
    ...(transport.type === 'http' && httpTransport && { type: httpTransport }),
    tier,
    title,
    disabled: isDisabled ? true : undefined,
    labels,
    roots,
    dataFiles,
    asserted,
    timeoutMs,
    revisions,
    inputs: inputs?.length ? inputs : undefined,
    provenance: provenance.length ? provenance : undefined,
  }
}
