/** Routes for the tour: the sample server that turns hostile. */

import type { TourView } from '../api.ts'
import { ApiError, conflict } from '../errors.ts'
import type { ConsoleServices, TourServer } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'

export function tourRoutes({ host, events, tour }: ConsoleServices): Route[] {
  let rogue: TourServer | undefined
  let starting: Promise<TourServer> | undefined
  const view = (): TourView => ({
    hasRogue: tour.startRogue !== undefined,
    ...(rogue && { rogue: { server: rogue.spec.id, hasTurned: rogue.hasTurned, received: rogue.received } }),
  })
  const changed = (): void => events.publish('servers', { ids: host.specs().map(({ id }) => id) })
  tour.onClose(async () => {
    await (await starting)?.close()
  })
  return [
    route('GET /api/tour', {}, view),
    route('POST /api/tour/rogue', { body: input({}), status: 201 }, async () => {
      if (!tour.startRogue) throw new ApiError(409, 'ERR_CONFLICT', 'This console has no sample server that turns hostile')
      const isNew = starting === undefined
      starting ??= tour.startRogue()
      rogue = await starting.catch((error: unknown) => {
        starting = undefined
        throw error
      })
      const { spec } = rogue
      if (isNew && host.specs().some(({ id }) => id === spec.id)) {
        await stop()
        throw conflict(`There is a server ${JSON.stringify(spec.id)} already`)
      }
      if (isNew) await host.configure([...host.specs(), spec])
      changed()
      return view()
    }),
    route('POST /api/tour/rogue/turn', {}, () => {
      if (!rogue) throw conflict('The sample server was not added yet')
      rogue.turn()
      return view()
    }),
    route('DELETE /api/tour/rogue', {}, async () => {
      const id = rogue?.spec.id
      if (id === undefined) return view()
      // The demonstration is over: a yes to it must not stay in the list of grants.
      await host.grants.revoke({ server: id })
      await host.configure(host.specs().filter((spec) => spec.id !== id))
      await stop()
      // What the person allowed was for the tour. A server that is named like this one later is another one.
      const revoked = await host.grants.revoke({ server: id })
      await host.pins.forget(id)
      if (revoked > 0) events.publish('grants', { revoked })
      changed()
      return view()
    }),
  ]

  async function stop(): Promise<void> {
    const former = rogue
    rogue = undefined
    starting = undefined
    await former?.close()
  }
}
