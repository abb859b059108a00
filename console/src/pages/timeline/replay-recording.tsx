/** Sends the requests of a recording to a server, and shows which answers differ. */

import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { RecordingReplay, RecordingView } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { Checkbox, Field, Select } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useOperation } from '../../hooks/use-console.tsx'
import { useServerChoices } from '../../hooks/use-server-choices.ts'
import { foreignName } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { Differences } from './differences.tsx'
import css from './page.module.css'

export function ReplayRecording({ recording, onClose }: { recording: RecordingView; onClose(): void }): ReactNode {
  const choices = useServerChoices()
  const [chosen, setChosen] = useState<string>()
  const [hasCalls, setCalls] = useState(false)
  const replay = useOperation()
  const server = chosen ?? (choices.some(({ value }) => value === recording.target) ? recording.target : (choices[0]?.value ?? ''))
  const { operation } = replay
  const result = operation?.state === 'done' ? (operation.result as RecordingReplay | undefined) : undefined
  const start = (): void =>
    void replay.start('POST /api/recordings/:id/replay', { params: { id: recording.id }, body: { server, calls: hasCalls } })
  const top = useRef<HTMLDivElement>(null)
  // It opens below the table, where it may be out of sight.
  useEffect(() => {
    top.current?.scrollIntoView({ block: 'nearest' })
    top.current?.focus()
  }, [])
  return (
    <div ref={top} tabIndex={-1}>
      <Section
        title={`Send “${foreignName(recording.title)}” again`}
        actions={
          <Button isSmall kind="quiet" onClick={onClose}>
            Close
          </Button>
        }
      >
        <div className={css.chooser}>
          <Field label="Server">{(control) => <Select {...control} value={server} choices={choices} onValue={setChosen} />}</Field>
          <Checkbox
            label="Also call tools"
            help="They act again. You are asked as usual."
            checked={hasCalls}
            onChange={(event) => setCalls(event.target.checked)}
          />
          <Button kind="main" isBusy={replay.isRunning} disabled={server === ''} onClick={start}>
            Send
          </Button>
          {replay.isRunning && <Button onClick={replay.cancel}>Cancel</Button>}
        </div>
        {replay.startError && <ErrorState title="The recording was not sent" error={replay.startError} />}
        {operation?.error && <ErrorState title="Sending stopped" error={operation.error} />}
        {result && (
          <div role="status">
            <p>
              {counted(result.asked, 'request')} sent, {counted(result.changed.length, 'answer')} different, {result.leftOut} left out.
            </p>
            <Differences requests={result.changed} />
          </div>
        )}
      </Section>
    </div>
  )
}
