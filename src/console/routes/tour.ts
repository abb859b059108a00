/** Routes for the sample server of the tour: it behaves well until it turns hostile. */

import type { TourView } from '../api.ts'
import { conflict } from '../errors.ts'
import type { ConsoleServices, ConsoleTour } from '../services.ts'
import { type Route, route } from '../web/router.ts'

export function tourRoutes({ host, tour, events }: ConsoleServices): Route[] {
  const view = (): TourView => {
    const rogue = tour?.rogue()
    return { hasRogue: tour !== undefined, ...(rogue && { rogue }) }
  }
  const needed = (): ConsoleTour => {
    if (!tour) throw conflict('This console has no sample server for the tour: it was created without the option tour')
    return tour
  }
  const changed = (): TourView => {
    events.publish('servers', { ids: host.specs().map(({ id }) => id) })
    return view()
  }
  return [
    route('GET /api/tour', {}, view),
    route('POST /api/tour/rogue', { status: 201 }, async () => {
      await needed().addRogue()
      return changed()
    }),
    route('POST /api/tour/rogue/turn', {}, () => {
      if (!needed().rogue()) throw conflict('The sample server was not added: POST /api/tour/rogue adds it')
      needed().turnRogue()
      return view()
    }),
    route('DELETE /api/tour/rogue', {}, async () => {
      await needed().removeRogue()
      return changed()
    }),
  ]
}
