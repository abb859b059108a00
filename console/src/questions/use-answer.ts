/** Sends the answer to a question, once. */

import { useCallback, useState } from 'react'
import type { GivenAnswer } from '../../../src/console/api.ts'
import { ApiError } from '../api/error.ts'
import { useConsole } from '../hooks/use-console.tsx'
import type { WaitingQuestion } from '../state/console-state.ts'
import { withAnswering } from '../state/reduce.ts'

export interface Answering {
  send(answer: GivenAnswer): void
  /** Why the answer did not count: the question stays. */
  fault: string | undefined
}

export function useAnswer({ id, isAnswering }: WaitingQuestion): Answering {
  const { api, store } = useConsole()
  const [fault, setFault] = useState<string>()
  const send = useCallback(
    (answer: GivenAnswer) => {
      if (isAnswering) return
      setFault(undefined)
      store.update((state) => withAnswering(state, id, true))
      api.call('POST /api/questions/:id/answer', { params: { id }, body: answer }).catch((error: unknown) => {
        store.update((state) => withAnswering(state, id, false))
        // Another window or the terminal was first. Its event closes the card.
        if (error instanceof ApiError && error.code === 'ERR_CONFLICT') setFault(error.message)
        else setFault(error instanceof Error ? error.message : String(error))
      })
    },
    [api, store, id, isAnswering],
  )
  return { send, fault }
}
