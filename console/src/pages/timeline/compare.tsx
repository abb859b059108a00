/** Compares two recordings: requests that were added or removed, answers that changed or became slower. */

import { type ReactNode, useState } from 'react'
import type { RecordingView } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { Field, Select } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { counted, durationText } from '../../state/format.ts'
import { comparedFirst } from '../../state/recordings.ts'
import { Differences } from './differences.tsx'
import css from './page.module.css'

export function Compare({ recordings }: { recordings: readonly RecordingView[] }): ReactNode {
  const choices = recordings.map(({ id, title, messages }) => ({
    value: id,
    label: `${foreignName(title)} (${counted(messages, 'message')})`,
  }))
  const [former, latter] = comparedFirst(recordings)
  const [before, setBefore] = useState(former)
  const [after, setAfter] = useState(latter)
  const compare = useAction('POST /api/recordings/compare')
  const { data } = compare
  return (
    <Section title="Compare two runs">
      <div className={css.chooser}>
        <Field label="Before">{(control) => <Select {...control} value={before} choices={choices} onValue={setBefore} />}</Field>
        <Field label="After">{(control) => <Select {...control} value={after} choices={choices} onValue={setAfter} />}</Field>
        <Button isBusy={compare.isPending} disabled={before === after} onClick={() => compare.mutate({ body: { before, after } })}>
          Compare
        </Button>
      </div>
      {compare.isError && <ErrorState title="The recordings could not be compared" error={compare.error} />}
      {data && (
        <div role="status">
          <p>
            {counted(data.same, 'answer')} the same, {data.changed.length} changed, {data.added.length} added, {data.removed.length}{' '}
            removed, {data.slower.length} slower.
          </p>
          <Requests title="Added" requests={data.added} />
          <Requests title="Removed" requests={data.removed} />
          {data.slower.length > 0 && (
            <ul>
              {data.slower.map(({ method, name, beforeMs, afterMs }) => (
                <li key={`${method} ${name} ${beforeMs}`}>
                  {foreignName([method, name].filter(Boolean).join(' '))}: {durationText(beforeMs)} before, {durationText(afterMs)} after
                </li>
              ))}
            </ul>
          )}
          <Differences requests={data.changed} />
        </div>
      )}
    </Section>
  )
}

function Requests({ title, requests }: { title: string; requests: readonly { method: string; name?: string }[] }): ReactNode {
  if (requests.length === 0) return null
  return (
    <p>
      {title}: {requests.map(({ method, name }) => foreignName([method, name].filter(Boolean).join(' '))).join(', ')}
    </p>
  )
}
