/** Routes that add servers, from a form, from pasted text and from other clients; and their settings. */

import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { SUPPORTED_REVISIONS } from '../../client/index.ts'
import {
  type Host,
  McpError,
  moveSecrets,
  plainSecrets,
  readClientConfigs,
  readPasted,
  type ServerSpec,
  serverFile,
  variableWarnings,
} from '../../host/index.ts'
import type { ChangedSettings, NewServer } from '../api.ts'
import { conflict, invalid, notFound } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { problemViews, serverDetails, serverView, specOf, transportView } from '../views.ts'
import { input, type Route, route } from '../web/router.ts'
import { endWriting } from './writing.ts'

const TEXT = { type: 'string' }
const TEXTS = { type: 'array', items: TEXT }
const TEXT_MAP = { type: 'object', additionalProperties: TEXT }
const CHANGES = { type: 'object', additionalProperties: { type: ['string', 'null'] } }
const TIER = { enum: ['trusted', 'untrusted'] }

const NEW_SERVER = input({
  id: { type: 'string', minLength: 1 },
  'title?': TEXT,
  'tier?': TIER,
  'labels?': TEXTS,
  'command?': { type: 'string', minLength: 1 },
  'args?': TEXTS,
  'env?': TEXT_MAP,
  'cwd?': TEXT,
  'url?': TEXT,
  'headers?': TEXT_MAP,
})

const SETTINGS = input({
  'title?': { type: ['string', 'null'] },
  'tier?': TIER,
  'labels?': TEXTS,
  'timeoutMs?': { type: ['integer', 'null'], minimum: 1 },
  'env?': CHANGES,
  'headers?': CHANGES,
  'command?': { type: 'string', minLength: 1 },
  'args?': TEXTS,
  'cwd?': { type: ['string', 'null'] },
  'url?': TEXT,
  'roots?': TEXTS,
  'revisions?': { type: ['array', 'null'], items: TEXT, minItems: 1 },
  'httpTransport?': { enum: ['streamable-http', 'sse', null] },
})

const CHOSEN = input({ ids: { type: 'array', items: TEXT, minItems: 1 }, 'moveSecrets?': { type: 'boolean' } })
const PASTED = { type: 'string', maxLength: 1_000_000 }

export function addServerRoutes({ host, events, imports, clock }: ConsoleServices): Route[] {
  const changed = (): void => events.publish('servers', { ids: host.specs().map(({ id }) => id) })
  return [
    route('POST /api/servers', { body: NEW_SERVER, status: 201 }, async ({ body }) => {
      const movedSecrets = await add(host, newSpec(body))
      changed()
      return { server: serverView(host, specOf(host, body.id), clock), movedSecrets }
    }),
    route('POST /api/servers/parse', { body: input({ text: PASTED }) }, async ({ body }) => {
      const { servers, problems } = await readPasted(body.text)
      return {
        servers: servers.map((spec) => ({ ...shown(spec), isTaken: host.specs().some(({ id }) => id === spec.id) })),
        problems: problemViews(problems),
      }
    }),
    route(
      'POST /api/servers/paste',
      { body: input({ text: PASTED, 'ids?': TEXTS, 'moveSecrets?': { type: 'boolean' } }), status: 201 },
      async ({ body: { text, ids, moveSecrets: moves = true } }) => {
        const { servers, problems } = await readPasted(text)
        for (const id of ids ?? [])
          if (!servers.some((spec) => spec.id === id)) throw notFound(`The text has no server ${JSON.stringify(id)}`)
        const chosen = servers.filter(({ id }) => ids === undefined || ids.includes(id))
        const taken = chosen.find((spec) => host.specs().some(({ id }) => id === spec.id))
        if (taken) throw conflict(`There is a server ${JSON.stringify(taken.id)} already`)
        for (const spec of chosen) await add(host, spec, moves)
        changed()
        return { added: chosen.map(({ id }) => id), problems: problemViews(problems) }
      },
    ),
    route('PATCH /api/servers/:id', { body: SETTINGS }, async ({ params: { id }, body }) => {
      const movedSecrets = await changeSettings(host, specOf(host, id), body)
      changed()
      return { server: await serverDetails(host, id, clock), movedSecrets }
    }),
    route('GET /api/import', {}, async () => {
      const { servers, problems } = await readClientConfigs(imports)
      return {
        servers: servers.map(({ spec }) => ({
          ...shown(spec),
          from: spec.provenance,
          isImported: host.specs().some((known) => isImportOf(known, spec)),
        })),
        problems: problemViews(problems),
      }
    }),
    route('POST /api/import', { body: CHOSEN, status: 201 }, async ({ body: { ids, moveSecrets: moves = true } }) => {
      const { servers } = await readClientConfigs(imports)
      const chosen = [...new Set(ids)].map((id) => {
        const found = servers.find(({ spec }) => spec.id === id)?.spec
        if (!found) throw notFound(`No other client has a server ${JSON.stringify(id)}`)
        return found
      })
      const wanted: ServerSpec[] = []
      for (const spec of chosen) wanted.push(moves ? (await withoutSecrets(host, spec)).spec : spec)
      const { added, updated } = await serverFile(host.folder).adopt(wanted)
      // The file of another program may have another command now.
      await endWriting(
        host,
        updated.map(({ id }) => id),
      )
      const next = new Map([...added, ...updated].map((spec) => [spec.id, spec]))
      // A stored server replaces one that was only given for this run, as at the next start.
      await host.configure([...host.specs().filter(({ id }) => !next.has(id)), ...next.values()])
      changed()
      return { added: added.map(({ id }) => id), updated: updated.map(({ id }) => id) }
    }),
  ]
}

const shown = (spec: ServerSpec) => ({
  id: spec.id,
  transport: transportView(spec),
  warnings: spec.transport.type === 'stdio' ? variableWarnings(spec.transport.env) : [],
  plainSecrets: plainSecrets(spec).map(({ where }) => where),
})

/** An import whose name was taken has the name with a number, and the former name as its title. */
const isImportOf = (known: ServerSpec, found: ServerSpec): boolean =>
  (known.id === found.id || (known.id.startsWith(`${found.id}-`) && known.title === (found.title ?? found.id))) &&
  known.provenance.some(({ client, file }) => found.provenance.some((from) => from.client === client && from.file === file))

const ours = (host: Host): ServerSpec['provenance'] => [{ client: 'portico', scope: 'ours', file: serverFile(host.folder).file }]

function newSpec({ id, title, tier = 'untrusted', labels = [], ...way }: NewServer): Omit<ServerSpec, 'provenance'> {
  return { id, transport: transportOf(way), tier, ...(title !== undefined && { title }), ...(labels.length > 0 && { labels }) }
}

/** Moves the secrets that can be moved to the vault. Resolves with their places. */
async function withoutSecrets(host: Host, spec: ServerSpec): Promise<{ spec: ServerSpec; moved: string[] }> {
  const movable = plainSecrets(spec).filter(({ isMovable }) => isMovable)
  return {
    spec: movable.length === 0 ? spec : await moveSecrets(spec, await host.secrets()),
    moved: movable.map(({ where }) => where),
  }
}

/** The host asks before the new server starts. Resolves with the places of the secrets that were moved to the vault. */
async function add(host: Host, given: Omit<ServerSpec, 'provenance'>, moves = true): Promise<string[]> {
  const { id } = given
  if (host.specs().some((spec) => spec.id === id)) throw conflict(`There is a server ${JSON.stringify(id)} already`)
  const file = serverFile(host.folder)
  const whole: ServerSpec = { ...given, provenance: ours(host) }
  const { spec, moved } = moves ? await withoutSecrets(host, whole) : { spec: whole, moved: [] }
  await file.add(spec)
  try {
    // A process that follows the file may have been faster.
    await host.configure([...host.specs().filter((each) => each.id !== id), spec])
  } catch (error) {
    await file.remove(id)
    throw error
  }
  return moved
}

function transportOf({ command, args = [], env = {}, cwd, url, headers = {} }: Omit<NewServer, 'id'>): ServerSpec['transport'] {
  if ((command === undefined) === (url === undefined)) throw invalid('body: expected either command or url')
  if (cwd !== undefined) checkFolder(cwd)
  if (command !== undefined) return { type: 'stdio', command, args, env, ...(cwd !== undefined && { cwd }) }
  if (!URL.canParse(url as string)) throw invalid(`url: expected a URL, got ${JSON.stringify(url)}`)
  return { type: 'http', url: url as string, headers }
}

/** Without it the start fails with an error that names the command. */
function checkFolder(folder: string): void {
  if (folder.includes('${')) return
  if (!isAbsolute(folder)) throw invalid(`Expected a working folder with its whole path (cwd), got ${JSON.stringify(folder)}`)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw invalid(`There is no folder ${JSON.stringify(folder)} (cwd)`)
}

/** In the list of the host as well, if the server is listed there. Others change until the host is started again. */
async function changeSettings(host: Host, spec: ServerSpec, changes: ChangedSettings): Promise<string[]> {
  const { spec: next, moved } = await withoutSecrets(host, changedSpec(spec, changes))
  await serverFile(host.folder)
    .update(spec.id, () => next)
    .catch((error: unknown) => {
      if (!(error instanceof McpError) || error.code !== 'ERR_SERVER_UNKNOWN') throw error
    })
  await host.configure(host.specs().map((each) => (each.id === spec.id ? next : each)))
  return moved
}

function changedSpec(spec: ServerSpec, changes: ChangedSettings): ServerSpec {
  const { title, tier = spec.tier, labels = spec.labels, timeoutMs, roots = spec.roots } = changes
  const { title: oldTitle, timeoutMs: oldTimeout, revisions: oldRevisions, httpTransport: oldHttp, ...rest } = spec
  const newTitle = title === undefined ? oldTitle : (title ?? undefined)
  const newTimeout = timeoutMs === undefined ? oldTimeout : (timeoutMs ?? undefined)
  const revisions = changes.revisions === undefined ? oldRevisions : changes.revisions
  const httpTransport = changes.httpTransport === undefined ? oldHttp : changes.httpTransport
  if (changes.httpTransport && spec.transport.type !== 'http') throw invalid('httpTransport: expected only for a server with an address')
  return {
    ...rest,
    transport: changedTransport(spec.transport, changes),
    tier,
    ...(newTitle !== undefined && { title: newTitle }),
    ...(newTimeout !== undefined && { timeoutMs: newTimeout }),
    ...(labels && { labels }),
    ...(roots && { roots }),
    ...(revisions && { revisions: knownRevisions(revisions) }),
    ...(httpTransport && { httpTransport }),
  }
}

function knownRevisions(revisions: readonly string[]): readonly string[] {
  const known: readonly string[] = SUPPORTED_REVISIONS.map(({ version }) => version)
  const unknown = revisions.find((each) => !known.includes(each))
  if (unknown === undefined) return revisions
  throw invalid(`revisions: expected some of ${known.join(', ')}, got ${JSON.stringify(unknown)}`)
}

function changedTransport(transport: ServerSpec['transport'], changes: ChangedSettings): ServerSpec['transport'] {
  const { command, args, env, cwd, url, headers } = changes
  if (transport.type === 'stdio') {
    if (url !== undefined || headers !== undefined) throw invalid('url and headers: expected only for a server with an address')
    const { cwd: oldFolder, ...rest } = transport
    const folder = cwd === undefined ? oldFolder : (cwd ?? undefined)
    if (cwd) checkFolder(cwd)
    return {
      ...rest,
      ...(command !== undefined && { command }),
      ...(args && { args }),
      env: merged(transport.env, env),
      ...(folder !== undefined && { cwd: folder }),
    }
  }
  if (command !== undefined || args !== undefined || env !== undefined || cwd !== undefined)
    throw invalid('command, args, env and cwd: expected only for a server that is started with a command')
  if (transport.type === 'memory') return transport
  if (url !== undefined && !URL.canParse(url)) throw invalid(`url: expected a URL, got ${JSON.stringify(url)}`)
  return { ...transport, ...(url !== undefined && { url }), headers: merged(transport.headers, headers) }
}

function merged(values: Readonly<Record<string, string>>, changes: Readonly<Record<string, string | null>> = {}): Record<string, string> {
  const next = new Map(Object.entries(values))
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) next.delete(name)
    else next.set(name, value)
  }
  return Object.fromEntries(next)
}
