/** The recordings that run, and the way to start and stop them. */

import { useState } from 'react'
import type { RecordingView } from '../../../src/console/api.ts'
import { storedText } from '../state/recordings.ts'
import { fetchAgain } from './fetch-again.ts'
import { useConsole, useNotify, useRoute } from './use-console.tsx'

export interface Recording {
  running: readonly RecordingView[]
  isBusy: boolean
  /** Records all servers. */
  start(): void
  /** Stops all of them. Those with messages are stored. */
  stop(): void
}

export function useRecording(): Recording {
  const { api, queries } = useConsole()
  const notify = useNotify()
  const [isBusy, setBusy] = useState(false)
  // Only those that run: the list of all reads every stored file.
  const list = useRoute('GET /api/recordings', { query: { state: 'recording' } })
  const running = list.data?.recordings ?? []
  const change = async (work: () => Promise<string>): Promise<void> => {
    setBusy(true)
    try {
      notify({ tone: 'fine', text: await work() })
    } catch (error) {
      notify({ tone: 'danger', text: (error as Error).message })
    }
    await fetchAgain(queries, 'GET /api/recordings')
    setBusy(false)
  }
  const startAll = async (): Promise<string> => {
    await api.call('POST /api/recordings', { body: {} })
    return 'Recording. Use your servers, then stop.'
  }
  const stopAll = async (): Promise<string> => {
    const ended = await Promise.all(running.map(({ id }) => api.call('POST /api/recordings/:id/stop', { params: { id } })))
    return storedText(ended.map(({ recording }) => recording))
  }
  return {
    running,
    isBusy,
    start: () => void change(startAll),
    stop: () => void change(stopAll),
  }
}
