/** The recordings that run, and the way to start and stop them. */

import { useState } from 'react'
import type { RecordingView } from '../../../src/console/api.ts'
import { counted } from '../state/format.ts'
import { useConsole, useNotify, useRoute } from './use-console.tsx'

export interface Recording {
  running: readonly RecordingView[]
  isBusy: boolean
  /** Records all servers. */
  start(): void
  /** Stops all of them. They are stored. */
  stop(): void
}

export function useRecording(): Recording {
  const { api, queries } = useConsole()
  const notify = useNotify()
  const [isBusy, setBusy] = useState(false)
  // Only those that run: the list of all reads every stored file.
  const list = useRoute('GET /api/recordings', { query: { state: 'recording' } })
  const running = list.data?.recordings ?? []
  const change = async (work: () => Promise<unknown>, text: string): Promise<void> => {
    setBusy(true)
    try {
      await work()
      notify({ tone: 'fine', text })
    } catch (error) {
      notify({ tone: 'danger', text: (error as Error).message })
    }
    await queries.invalidateQueries({ queryKey: ['GET /api/recordings'] })
    setBusy(false)
  }
  const stopAll = (): Promise<unknown> =>
    Promise.all(running.map(({ id }) => api.call('POST /api/recordings/:id/stop', { params: { id } })))
  return {
    running,
    isBusy,
    start: () => void change(() => api.call('POST /api/recordings', { body: {} }), 'Recording. Use your servers, then stop.'),
    stop: () => void change(stopAll, `${counted(running.length, 'recording')} stored.`),
  }
}
