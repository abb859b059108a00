/** Routes for the servers that other clients on this computer have configured. */

import { moveSecrets, plainSecrets, readClientConfigs, type ServerSpec, serverFile, variableWarnings } from '../../host/index.ts'
import { notFound } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { transportView } from '../views.ts'
import { input, type Route, route } from '../web/router.ts'

const CHOSEN = input({ ids: { type: 'array', items: { type: 'string' }, minItems: 1 }, 'moveSecrets?': { type: 'boolean' } })

/** Reads the files of other clients. Nothing is started, and no file of another client is changed. */
export const importRoutes = ({ host, events, imports }: ConsoleServices): Route[] => [
  route('GET /api/import', {}, async () => {
    const { servers, problems } = await readClientConfigs(imports)
    return {
      servers: servers.map(({ spec, plainSecrets: plain }) => ({
        id: spec.id,
        transport: transportView(spec),
        from: spec.provenance,
        warnings: spec.transport.type === 'stdio' ? variableWarnings(spec.transport.env) : [],
        plainSecrets: plain.map(({ where }) => where),
      })),
      problems: problems.map(({ file, where, text }) => ({ file, where, text })),
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
    for (const spec of chosen) {
      const isMoving = moves && plainSecrets(spec).some(({ isMovable }) => isMovable)
      wanted.push(isMoving ? await moveSecrets(spec, await host.secrets()) : spec)
    }
    const { added, updated } = await serverFile(host.folder).adopt(wanted)
    const next = new Map([...added, ...updated].map((spec) => [spec.id, spec]))
    // A stored server replaces one that was only given for this run, as at the next start.
    await host.configure([...host.specs().filter(({ id }) => !next.has(id)), ...next.values()])
    events.publish('servers', { ids: host.specs().map(({ id }) => id) })
    return { added: added.map(({ id }) => id), updated: updated.map(({ id }) => id) }
  }),
]
