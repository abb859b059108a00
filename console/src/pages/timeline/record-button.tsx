/** Starts and stops a recording of all servers. */

import type { ReactNode } from 'react'
import type { RecordingView } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { useConsole, useNotify } from '../../hooks/use-console.tsx'
import { counted } from '../../state/format.ts'

export function RecordButton({ recordings }: { recordings: readonly RecordingView[] }): ReactNode {
  const { api, queries } = useConsole()
  const notify = useNotify()
  const running = recordings.filter(({ state }) => state === 'recording')
  const toggle = async (): Promise<void> => {
    try {
      if (running.length === 0) await api.call('POST /api/recordings', { body: {} })
      else await Promise.all(running.map(({ id }) => api.call('POST /api/recordings/:id/stop', { params: { id } })))
      if (running.length > 0) notify({ tone: 'fine', text: `${counted(running.length, 'recording')} stored.` })
    } catch (error) {
      notify({ tone: 'danger', text: (error as Error).message })
    }
    await queries.invalidateQueries({ queryKey: ['GET /api/recordings'] })
  }
  return (
    <Button kind={running.length > 0 ? 'danger' : 'plain'} aria-pressed={running.length > 0} onClick={() => void toggle()}>
      {running.length > 0 ? `■ Stop recording (${counted(running.length, 'server')})` : '● Record'}
    </Button>
  )
}
