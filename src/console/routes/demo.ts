/** Routes for the samples: what the tour of the page needs and no other use of a host has. */

import { conflict } from '../errors.ts'
import type { ConsoleDemo, ConsoleServices } from '../services.ts'
import { serverView, specOf } from '../views.ts'
import { type Route, route } from '../web/router.ts'

const ROGUE = 'rogue'

export function demoRoutes({ host, demo, events, clock }: ConsoleServices): Route[] {
  const needed = (): ConsoleDemo => {
    if (!demo) throw conflict('This console has no samples: it was created without the option demo')
    return demo
  }
  return [
    route('GET /api/demo', {}, async () => {
      if (!demo) return { demo: null }
      const received = await demo.receivedByRogue()
      return { demo: { samples: demo.samples(), ...(received !== undefined && { rogue: { id: ROGUE, received } }) } }
    }),
    route('POST /api/demo/rogue', { status: 201 }, async () => {
      const id = await needed().addRogue()
      events.publish('servers', { ids: host.specs().map((spec) => spec.id) })
      return { server: serverView(host, specOf(host, id), clock) }
    }),
    route('POST /api/demo/damaged-audit', {}, () => needed().verifyDamagedAudit()),
  ]
}
