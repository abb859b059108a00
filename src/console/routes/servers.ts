/** Routes for servers: list, add, remove, enable, restart, approve, log in, log, roots. */

import { orAborted } from '../../base/wait.ts'
import { type Host, McpError, moveSecrets, plainSecrets, type ServerSpec, type ServerTransport, serverFile } from '../../host/index.ts'
import type { HealthView, NewServer, OperationResults, Started } from '../api.ts'
import { conflict, invalid, notFound } from '../errors.ts'
import type { Running } from '../operations.ts'
import type { ConsoleServices } from '../services.ts'
import { healthView, serverDetails, serverView, specOf } from '../views.ts'
import { input, type Route, route } from '../web/router.ts'

const TEXT = { type: 'string' }
const TEXTS = { type: 'array', items: TEXT }
const TEXT_MAP = { type: 'object', additionalProperties: TEXT }

const NEW_SERVER = input({
  id: { type: 'string', minLength: 1 },
  'title?': TEXT,
  'tier?': { enum: ['trusted', 'untrusted'] },
  'labels?': TEXTS,
  'command?': { type: 'string', minLength: 1 },
  'args?': TEXTS,
  'env?': TEXT_MAP,
  'cwd?': TEXT,
  'url?': TEXT,
  'headers?': TEXT_MAP,
})

/** Log entries of one answer, where the page gives no limit. */
const LOG_ENTRIES = 200

export function serverRoutes(services: ConsoleServices): Route[] {
  const { host, feed, events, operations, clock } = services
  const changed = (): void => events.publish('servers', { ids: host.specs().map(({ id }) => id) })
  const view = (id: string) => serverView(host, specOf(host, id), clock)

  return [
    route('GET /api/servers', {}, () => ({ servers: host.specs().map((spec) => serverView(host, spec, clock)) })),
    route('POST /api/servers', { body: NEW_SERVER, status: 201 }, async ({ body }) => {
      const movedSecrets = await addServer(host, body)
      changed()
      return { server: view(body.id), movedSecrets }
    }),
    route('GET /api/servers/:id', {}, async ({ params: { id } }) => {
      specOf(host, id)
      return { server: await serverDetails(host, id, clock) }
    }),
    route('DELETE /api/servers/:id', {}, async ({ params: { id } }) => {
      specOf(host, id)
      await serverFile(host.folder).remove(id)
      await host.configure(host.specs().filter((spec) => spec.id !== id))
      changed()
      return null
    }),
    route('POST /api/servers/:id/disable', {}, async ({ params: { id } }) => {
      await replaceSpec(host, specOf(host, id), { isDisabled: true })
      changed()
      return { server: view(id) }
    }),
    ...startingRoutes(services, changed),
    route('GET /api/servers/:id/log', { query: LOG_QUERY }, ({ params: { id }, query: { after = 0, limit = LOG_ENTRIES } }) => {
      specOf(host, id)
      const entries = feed.logOf(id).filter(({ seq }) => seq > after)
      // Without a position a page wants the newest, with one the next.
      return { entries: after === 0 ? entries.slice(-limit) : entries.slice(0, limit) }
    }),
    route('GET /api/servers/:id/roots', {}, ({ params: { id } }) => {
      specOf(host, id)
      return { roots: host.rootsOf(id) }
    }),
    route('POST /api/servers/:id/roots', { body: input({ folder: TEXT }), status: 202 }, ({ params: { id }, body: { folder } }) => {
      specOf(host, id)
      const run = async ({ signal }: Running) => {
        await host.giveRoot(id, folder, { signal })
        return host.rootsOf(id)
      }
      return { operation: operations.start({ kind: 'root', target: id, run }) }
    }),
    route('DELETE /api/servers/:id/roots', { query: input({ uri: TEXT }) }, ({ params: { id }, query: { uri } }) => {
      specOf(host, id)
      if (!host.takeRoot(id, uri)) throw notFound(`The server ${JSON.stringify(id)} has no root ${JSON.stringify(uri)}`)
      return null
    }),
  ]
}

const LOG_QUERY = input({ 'after?': { type: 'integer', minimum: 0 }, 'limit?': { type: 'integer', minimum: 1, maximum: 1000 } })

type ServerOperation = 'enable' | 'restart' | 'approve' | 'login' | 'logout'

/** Routes that may ask the person, so that each is an operation. */
function startingRoutes({ host, operations, clock }: ConsoleServices, changed: () => void): Route[] {
  const start = <Kind extends ServerOperation>(
    kind: Kind,
    id: string,
    run: (signal: AbortSignal) => Promise<OperationResults[Kind]>,
  ): Started => {
    specOf(host, id)
    return { operation: operations.start({ kind, target: id, run: ({ signal }) => run(signal) }) }
  }
  const tryAgain = async (id: string, signal: AbortSignal): Promise<HealthView> =>
    healthView(await orAborted(host.retry(id), signal), clock)
  const status = 202
  return [
    route('POST /api/servers/:id/enable', { status }, ({ params: { id } }) =>
      start('enable', id, async (signal) => {
        const spec = specOf(host, id)
        if (spec.isDisabled) {
          await replaceSpec(host, spec, { isDisabled: false })
          changed()
        }
        return tryAgain(id, signal)
      }),
    ),
    route('POST /api/servers/:id/restart', { status }, ({ params: { id } }) =>
      start('restart', id, async (signal) => {
        const spec = specOf(host, id)
        if (host.health()[id]?.state === 'ready') {
          await host.configure(host.specs().filter((each) => each.id !== id))
          await host.configure([...host.specs(), spec])
        }
        return tryAgain(id, signal)
      }),
    ),
    route('POST /api/servers/:id/approve', { status }, ({ params: { id } }) =>
      start('approve', id, (signal) => host.approve(id, { signal }).then(() => null)),
    ),
    route('POST /api/servers/:id/login', { status }, ({ params: { id } }) =>
      start('login', id, (signal) => host.login(id, { signal }).then(() => null)),
    ),
    route('POST /api/servers/:id/logout', { status }, ({ params: { id } }) =>
      start('logout', id, (signal) => host.logout(id, { signal }).then(() => null)),
    ),
  ]
}

/** Stores the server and starts it. Resolves with the places of secrets that were moved to the vault. */
async function addServer(host: Host, given: NewServer): Promise<string[]> {
  const { id, title, tier = 'untrusted', labels = [] } = given
  if (host.specs().some((spec) => spec.id === id)) throw conflict(`There is a server ${JSON.stringify(id)} already`)
  const file = serverFile(host.folder)
  const spec: ServerSpec = {
    id,
    transport: transportOf(given),
    tier,
    provenance: [{ client: 'portico', scope: 'ours', file: file.file }],
    ...(title !== undefined && { title }),
    ...(labels.length > 0 && { labels }),
  }
  const movable = plainSecrets(spec).filter(({ isMovable }) => isMovable)
  const stored = movable.length === 0 ? spec : await moveSecrets(spec, await host.secrets())
  await file.add(stored)
  try {
    await host.configure([...host.specs(), stored])
  } catch (error) {
    await file.remove(id)
    throw error
  }
  return movable.map(({ where }) => where)
}

function transportOf({ command, args = [], env = {}, cwd, url, headers = {} }: NewServer): ServerTransport {
  if ((command === undefined) === (url === undefined)) throw invalid('body: expected either command or url')
  if (command !== undefined) return { type: 'stdio', command, args, env, ...(cwd !== undefined && { cwd }) }
  if (!URL.canParse(url as string)) throw invalid(`url: expected a URL, got ${JSON.stringify(url)}`)
  return { type: 'http', url: url as string, headers }
}

/** In the list of the host as well, if the server is listed there. Others change until the host is started again. */
async function replaceSpec(host: Host, { isDisabled: _, ...spec }: ServerSpec, { isDisabled }: { isDisabled: boolean }): Promise<void> {
  const next: ServerSpec = { ...spec, ...(isDisabled && { isDisabled }) }
  await serverFile(host.folder)
    .update(spec.id, ({ isDisabled: _before, ...stored }) => ({ ...stored, ...(isDisabled && { isDisabled }) }))
    .catch((error: unknown) => {
      if (!(error instanceof McpError) || error.code !== 'ERR_SERVER_UNKNOWN') throw error
    })
  await host.configure(host.specs().map((each) => (each.id === spec.id ? next : each)))
}
