/** Starts and stops a recording of all servers. */

import type { ReactNode } from 'react'
import { Button } from '../../components/button.tsx'
import { useRecording } from '../../hooks/use-recording.ts'
import { counted } from '../../state/format.ts'

export function RecordButton(): ReactNode {
  const { running, isBusy, start, stop } = useRecording()
  const isOn = running.length > 0
  return (
    <Button kind={isOn ? 'danger' : 'plain'} isBusy={isBusy} aria-pressed={isOn} onClick={isOn ? stop : start}>
      {isOn ? `■ Stop recording (${counted(running.length, 'server')})` : '● Record'}
    </Button>
  )
}
