/** The list of messages with its filters, and the details of the selected one. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Field, Select, TextInput } from '../../components/field.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { VirtualList } from '../../components/virtual-list.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { counted } from '../../state/format.ts'
import { filteredRows, SLOW_MS, type TimelineFilters, timelineRows } from '../../state/timeline.ts'
import { MessageDetailsPane } from './message-details.tsx'
import { MessageRow } from './message-row.tsx'
import css from './page.module.css'
import { useTimeline } from './use-timeline.ts'

const KINDS = [
  { value: '', label: 'All messages' },
  { value: 'requests', label: 'Requests' },
  { value: 'failed', label: 'Failed' },
  { value: 'slow', label: `Slow (${SLOW_MS} ms and more)` },
  { value: 'violations', label: 'Break the protocol' },
]

export function Messages(): ReactNode {
  const { server, message } = useSearch({ from: '/timeline' })
  const navigate = useNavigate({ from: '/timeline' })
  const servers = useRoute('GET /api/servers')
  const timeline = useTimeline()
  const [text, setText] = useState('')
  const [only, setOnly] = useState('')
  const [isFollowing, setFollowing] = useState(true)
  const all = useMemo(() => timelineRows(timeline.messages), [timeline.messages])
  const search = useDeferredValue(text)
  const rows = useMemo(
    () => filteredRows(all, { server, text: search, only: (only || undefined) as TimelineFilters['only'] }),
    [all, server, search, only],
  )
  const selected = message === undefined ? undefined : rows.find(({ seq }) => String(seq) === message)
  const show = (seq: number | undefined): void =>
    void navigate({ search: ({ message: _, ...rest }) => (seq === undefined ? rest : { ...rest, message: String(seq) }) })

  return (
    <div className={css.messages}>
      <div className={css.filters}>
        <Field label="Search in messages" isLabelHidden>
          {(control) => (
            <TextInput
              {...control}
              type="search"
              placeholder="Method, tool or error"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <Field label="Server" isLabelHidden>
          {(control) => (
            <Select
              {...control}
              value={server ?? ''}
              choices={[
                { value: '', label: 'All servers' },
                ...(servers.data?.servers ?? []).map(({ id, title }) => ({ value: id, label: foreignName(title ?? id) })),
              ]}
              onValue={(value) => void navigate({ search: ({ server: _, ...rest }) => (value === '' ? rest : { ...rest, server: value }) })}
            />
          )}
        </Field>
        <Field label="Kind" isLabelHidden>
          {(control) => <Select {...control} value={only} choices={KINDS} onValue={setOnly} />}
        </Field>
        <div className={css.filterActions}>
          <Button isSmall aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
            {isFollowing ? 'Following' : 'Follow'}
          </Button>
          <Button isSmall kind="quiet" disabled={all.length === 0} onClick={() => void timeline.clear()}>
            Clear
          </Button>
        </div>
      </div>
      {timeline.error && <ErrorState title="The messages could not be fetched" error={timeline.error} onRetry={timeline.reload} />}
      {timeline.isLoading && <Skeleton lines={8} />}
      {!timeline.isLoading && all.length === 0 && (
        <EmptyState title="No message yet">Enable a server or call a tool: its messages appear here.</EmptyState>
      )}
      {all.length > 0 && rows.length === 0 && <EmptyState title="No message matches">Change the filters, or search for less.</EmptyState>}
      {rows.length > 0 && (
        <div className={css.columns} data-has-details={selected !== undefined}>
          <div className={css.list}>
            <VirtualList
              label="Messages"
              rows={rows}
              keyOf={({ seq }) => String(seq)}
              rowHeight={32}
              selected={message}
              onSelect={({ seq }) => show(seq)}
              isFollowing={isFollowing && selected === undefined}
            >
              {(row) => <MessageRow row={row} />}
            </VirtualList>
            <p className={css.muted} role="status">
              {counted(rows.length, 'row')}
              {timeline.forgotten > 0 && `. ${counted(timeline.forgotten, 'older message')} removed to save memory.`}
            </p>
          </div>
          {selected && <MessageDetailsPane row={selected} key={selected.seq} onClose={() => show(undefined)} />}
        </div>
      )}
    </div>
  )
}
