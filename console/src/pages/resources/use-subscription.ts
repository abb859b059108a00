/** Follows the changes of a resource. All windows share the subscription. */

import { useState } from 'react'
import { type RunningOperation, useAction, useEvents, useOperation, useRoute } from '../../hooks/use-console.tsx'

export interface Subscription {
  isOn: boolean
  /** The start of the subscription. */
  run: RunningOperation
  /** How often the resource changed since this page shows it. */
  changes: number
  turn(isOn: boolean): void
}

/** @param onChange called when the server says that the resource changed */
export function useSubscription(uri: string | undefined, onChange: () => void): Subscription {
  const list = useRoute('GET /api/subscriptions')
  const run = useOperation()
  const end = useAction('DELETE /api/subscriptions/:id', { stale: ['GET /api/subscriptions'] })
  const [changed, setChanged] = useState({ uri, count: 0 })
  const found = list.data?.subscriptions.filter((each) => each.uri === uri) ?? []
  useEvents((event) => {
    if (event.name !== 'resource' || uri === undefined || event.data.uri !== uri) return
    setChanged((before) => ({ uri, count: before.uri === uri ? before.count + 1 : 1 }))
    onChange()
  })
  return {
    isOn: found.length > 0,
    run,
    changes: changed.uri === uri ? changed.count : 0,
    turn: (isOn) => {
      if (uri === undefined) return
      if (isOn) void run.start('POST /api/subscriptions', { body: { uri } })
      else for (const { id } of found) end.mutate({ params: { id } })
    },
  }
}
