/** Messages with their filters, and the details of the selected one: all of them, or those of one server. */

import { type ReactNode, useDeferredValue, useMemo, useState } from 'react'
import { Button } from '../components/button.tsx'
import { FilterChoice, Filters, FilterText } from '../components/filters.tsx'
import { ListDetails } from '../components/list-details.tsx'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'
import { VirtualList } from '../components/virtual-list.tsx'
import { useIsWide } from '../hooks/use-is-wide.ts'
import { useServerChoices, withAllServers } from '../hooks/use-server-choices.ts'
import { counted } from '../state/format.ts'
import { filteredRows, SLOW_MS, type TimelineFilters, timelineRows } from '../state/timeline.ts'
import { MessageDetailsPane } from './message-details.tsx'
import { MessageRow } from './message-row.tsx'
import css from './traffic.module.css'
import { useTimeline } from './use-timeline.ts'

const KINDS = [
  { value: '', label: 'All messages' },
  { value: 'requests', label: 'Requests' },
  { value: 'failed', label: 'Failed' },
  { value: 'slow', label: `Slow (${SLOW_MS} ms and more)` },
  { value: 'violations', label: 'Break the protocol' },
]

const ROW_PX = 32
/** On a phone: two lines. */
const HIGH_ROW_PX = 48
/** The height of a list inside another page. */
const MIN_SHORT_PX = 150
const MAX_SHORT_PX = 280

export interface MessageListProps {
  /** Undefined: all servers. */
  server: string | undefined
  /** Undefined: the server cannot be changed here. */
  onServer?: (server: string | undefined) => void
  /** The `seq` of the message whose details are open. */
  selected: string | undefined
  onSelect(seq: string | undefined): void
  /** Only messages of this time, in milliseconds since 1970. Default: all. */
  period?: { from: number; to: number }
}

export function MessageList({ server, onServer, selected, onSelect, period }: MessageListProps): ReactNode {
  const isOfOne = onServer === undefined
  const rowPx = useIsWide() ? ROW_PX : HIGH_ROW_PX
  const servers = useServerChoices()
  const timeline = useTimeline(isOfOne ? server : undefined)
  const [text, setText] = useState('')
  const [only, setOnly] = useState('')
  const [isFollowing, setFollowing] = useState(true)
  const [hasKeepAlive, setKeepAlive] = useState(false)
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = period ?? {}
  const all = useMemo(() => timelineRows(timeline.messages.filter(({ at }) => at >= from && at <= to)), [timeline.messages, from, to])
  const search = useDeferredValue(text)
  const matching = useMemo(
    () => filteredRows(all, { server, text: search, only: (only || undefined) as TimelineFilters['only'] }),
    [all, server, search, only],
  )
  const without = useMemo(() => filteredRows(matching, { text: search, withoutKeepAlive: true }), [matching, search])
  const hidden = matching.length - without.length
  const rows = hasKeepAlive ? matching : without
  const open = selected === undefined ? undefined : all.find(({ seq }) => String(seq) === selected)
  return (
    <div className={css.messages} data-one-server={isOfOne}>
      <Filters
        actions={
          <>
            {hidden > 0 && (
              <Button isSmall aria-pressed={hasKeepAlive} onClick={() => setKeepAlive(!hasKeepAlive)}>
                {hasKeepAlive ? 'Hide keep-alive' : `Show keep-alive (${hidden.toLocaleString('en')} hidden)`}
              </Button>
            )}
            <Button isSmall aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
              {isFollowing ? 'Following' : 'Follow'}
            </Button>
            {!isOfOne && (
              <Button isSmall kind="quiet" disabled={all.length === 0} onClick={() => void timeline.clear()}>
                Clear
              </Button>
            )}
          </>
        }
      >
        <FilterText label="Search in messages" placeholder="Method, tool or error" value={text} onValue={setText} />
        {onServer && (
          <FilterChoice
            label="Server"
            value={server}
            choices={withAllServers(servers)}
            onValue={(value) => onServer(value === '' ? undefined : value)}
          />
        )}
        <FilterChoice label="Kind" value={only} choices={KINDS} onValue={setOnly} />
      </Filters>
      {timeline.error && <ErrorState title="The messages could not be fetched" error={timeline.error} onRetry={timeline.reload} />}
      {timeline.isLoading && <Skeleton lines={8} />}
      {!timeline.isLoading && all.length === 0 && (
        <EmptyState title="No message yet">
          {isOfOne
            ? 'Enable the server or call one of its tools: its messages appear here.'
            : 'Enable a server or call a tool: its messages appear here.'}
        </EmptyState>
      )}
      {all.length > 0 && matching.length === 0 && (
        <EmptyState title="No message matches">Change the filters, or search for less.</EmptyState>
      )}
      {rows.length === 0 && hidden > 0 && (
        <EmptyState title="Only keep-alive messages">They ask whether a server is still there. Nothing else was sent.</EmptyState>
      )}
      {rows.length > 0 && (
        <ListDetails
          className={css.columns}
          listClassName={css.list}
          listStyle={period && { height: Math.min(MAX_SHORT_PX, Math.max(MIN_SHORT_PX, rows.length * rowPx + 30)) }}
          list={
            <VirtualList
              label="Messages"
              rows={rows}
              keyOf={({ seq }) => String(seq)}
              key={rowPx}
              rowHeight={rowPx}
              selected={selected}
              onSelect={({ seq }) => onSelect(String(seq))}
              isFollowing={isFollowing && open === undefined}
            >
              {(row) => <MessageRow row={row} />}
            </VirtualList>
          }
          below={
            <p className={css.muted} role="status">
              {counted(rows.length, 'row')}
              {timeline.forgotten > 0 && `. ${counted(timeline.forgotten, 'older message')} removed to save memory.`}
            </p>
          }
          details={open && <MessageDetailsPane row={open} key={open.seq} onClose={() => onSelect(undefined)} />}
        />
      )}
    </div>
  )
}
