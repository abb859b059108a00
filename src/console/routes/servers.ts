/** Routes for servers: list, remove, enable, restart, approve, log in, log, roots. */

import { orAborted } from '../../base/wait.ts'
import { LOG_LEVELS } from '../../client/index.ts'
import { type Host, McpError, type ServerSpec, serverFile } from '../../host/index.ts'
import type { DoctorReport, EnabledServer, OperationResults, Started } from '../api.ts'
import { errorReply, notFound } from '../errors.ts'
import type { Running } from '../operations.ts'
import type { ConsoleServices } from '../services.ts'
import { healthView, serverDetails, serverView, specOf } from '../views.ts'
import { input, type Route, route } from '../web/router.ts'
import { OPERATION_ID } from './use.ts'
import { endWriting } from './writing.ts'

const TEXT = { type: 'string' }

/** Log entries of one answer, where the page gives no limit. */
const LOG_ENTRIES = 200

export function serverRoutes(services: ConsoleServices): Route[] {
  const { host, feed, events, operations, clock } = services
  const changed = (): void => events.publish('servers', { ids: host.specs().map(({ id }) => id) })
  const view = (id: string) => serverView(host, specOf(host, id), clock)

  return [
    route('GET /api/servers', {}, () => ({ servers: host.specs().map((spec) => serverView(host, spec, clock)) })),
    route('GET /api/servers/:id', {}, async ({ params: { id } }) => {
      specOf(host, id)
      return { server: await serverDetails(host, id, clock) }
    }),
    route('DELETE /api/servers/:id', {}, async ({ params: { id } }) => {
      specOf(host, id)
      await serverFile(host.folder).remove(id)
      await endWriting(host, [id])
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
    route('POST /api/servers/:id/ping', {}, async ({ params: { id }, signal }) => {
      specOf(host, id)
      const ms = await host.ping(id, { signal })
      return { ms, method: host.connection(id)?.pingMethod ?? 'ping' }
    }),
    route('PUT /api/servers/:id/log-level', { body: input({ level: { enum: [...LOG_LEVELS] } }) }, async ({ params: { id }, body }) => {
      specOf(host, id)
      await host.setLogLevel(id, body.level)
      changed()
      return { server: await serverDetails(host, id, clock) }
    }),
    route('GET /api/servers/:id/log', { query: LOG_QUERY }, ({ params: { id }, query: { after = 0, limit = LOG_ENTRIES } }) => {
      specOf(host, id)
      const entries = feed.logOf(id).filter(({ seq }) => seq > after)
      // Without a position a page wants the newest, with one the next.
      return { entries: after === 0 ? entries.slice(-limit) : entries.slice(0, limit) }
    }),
    route('GET /api/servers/:id/read-only', {}, ({ params: { id } }) => {
      specOf(host, id)
      return { tools: host.readOnlyTools(id) }
    }),
    route(
      'POST /api/servers/:id/read-only',
      { body: input({ tools: { type: 'array', items: TEXT, minItems: 1 }, 'isRevoked?': { type: 'boolean' } }) },
      async ({ params: { id }, body: { tools, isRevoked = false } }) => {
        specOf(host, id)
        await host.acceptReadOnly(id, tools, { isRevoked })
        return { tools: host.readOnlyTools(id) }
      },
    ),
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
function startingRoutes({ host, operations, events, clock }: ConsoleServices, changed: () => void): Route[] {
  const start = <Kind extends ServerOperation>(
    kind: Kind,
    id: string,
    run: (signal: AbortSignal) => Promise<OperationResults[Kind]>,
  ): Started => {
    specOf(host, id)
    return { operation: operations.start({ kind, target: id, run: ({ signal }) => run(signal) }) }
  }
  const switchOn = async (id: string): Promise<void> => {
    const spec = specOf(host, id)
    if (!spec.isDisabled) return
    await replaceSpec(host, spec, { isDisabled: false })
    changed()
  }
  const enableAll = async (ids: readonly string[], signal: AbortSignal): Promise<EnabledServer[]> => {
    for (const id of ids) await switchOn(id)
    return (await orAborted(host.enableAll(ids, { signal }), signal)).map(({ server, error }) => {
      const health = healthView(host.health()[server], clock)
      if (!error) return { server, health }
      const { code, message } = errorReply(error).body.error
      return { server, health, error: { code, message } }
    })
  }
  const status = 202
  return [
    route('POST /api/servers/:id/enable', { body: input({ 'choose?': { type: 'boolean' } }), status }, ({ params: { id }, body }) =>
      start('enable', id, async (signal) => {
        await switchOn(id)
        await orAborted(host.enable(id, { signal, isChoosing: body.choose === true }), signal)
        return healthView(host.health()[id], clock)
      }),
    ),
    route(
      'POST /api/servers/enable',
      { body: input({ ids: { type: 'array', items: TEXT, minItems: 1, maxItems: 500 }, 'id?': OPERATION_ID }), status },
      ({ body }) => {
        const ids = [...new Set(body.ids)]
        for (const id of ids) specOf(host, id)
        const run = ({ signal }: Running): Promise<EnabledServer[]> => enableAll(ids, signal)
        return { operation: operations.start({ kind: 'enable-all', target: ids.join(', '), id: body.id, run }) }
      },
    ),
    route('POST /api/servers/:id/restart', { status }, ({ params: { id } }) =>
      start('restart', id, async (signal) => healthView(await orAborted(host.restart(id), signal), clock)),
    ),
    route('POST /api/servers/:id/doctor', { status }, ({ params: { id } }) => {
      specOf(host, id)
      const run = ({ id: operation, signal }: Running): Promise<DoctorReport> =>
        host.checkup(id, { signal, onFinding: (finding) => events.publish('doctor', { operation, server: id, finding }) })
      return { operation: operations.start({ kind: 'doctor', target: id, run }) }
    }),
    route('POST /api/servers/:id/approve', { status }, ({ params: { id } }) =>
      start('approve', id, (signal) => host.approve(id, { signal }).then(() => null)),
    ),
    route('POST /api/servers/:id/login', { status }, ({ params: { id } }) =>
      start('login', id, async (signal) => {
        await host.login(id, { signal })
        // It was refused before for want of a login. Without a further try it would stay so.
        if (host.health()[id]?.state !== 'ready') await orAborted(host.enable(id, { signal }), signal)
        return null
      }),
    ),
    route('POST /api/servers/:id/logout', { status }, ({ params: { id } }) =>
      start('logout', id, (signal) => host.logout(id, { signal }).then(() => null)),
    ),
  ]
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
