/** Operations of the tour that are still there after "Back". */

import { useCallback } from 'react'
import { draftOf, keepDraft } from '../../../catalog/drafts.ts'
import { type RunningOperation, useOperation } from '../../../hooks/use-console.tsx'
import { TOUR_DRAFTS } from '../../../state/tour.ts'

/** @param name of the operation within the tour */
export function useKeptOperation(name: string): RunningOperation {
  const key = `${TOUR_DRAFTS}${name}`
  const run = useOperation(draftOf(key).operation)
  const begin = run.start
  const start = useCallback<RunningOperation['start']>(
    async (route, request) => {
      const started = await begin(route, request)
      if (started) keepDraft(key, { operation: started.id })
      return started
    },
    [begin, key],
  )
  return { ...run, start }
}
