/** The log of a server: what it printed and the messages that it sent. */

import { type ReactNode, useMemo, useState } from 'react'
import type { LogEntry, ServerFacts } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Field, Select } from '../../components/field.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { VirtualList } from '../../components/virtual-list.tsx'
import { useEvents, useRoute } from '../../hooks/use-console.tsx'
import { clockText } from '../../state/format.ts'
import { joinedLog, LOG_LEVELS, type LogLine, logLines } from '../../state/log.ts'
import { LogLevelChoice } from './log-level.tsx'
import css from './page.module.css'

/** New entries that the page keeps. */
const MAX_ADDED = 5_000

export function ServerLogTab({ id, facts }: { id: string; facts: ServerFacts | undefined }): ReactNode {
  const log = useRoute('GET /api/servers/:id/log', { params: { id }, query: { limit: 1000 } })
  const [level, setLevel] = useState('')
  const [isFollowing, setFollowing] = useState(true)
  const [added, setAdded] = useState<readonly LogEntry[]>([])
  useEvents((event) => {
    if (event.name === 'log' && event.data.server === id) setAdded((known) => [...known, event.data.entry].slice(-MAX_ADDED))
  })
  const lines = useMemo(() => logLines(joinedLog(log.data?.entries ?? [], added), level || undefined), [log.data, added, level])
  if (log.isPending) return <Skeleton lines={6} />
  if (log.isError) return <ErrorState title="The log could not be fetched" error={log.error} onRetry={() => void log.refetch()} />
  return (
    <>
      <LogLevelChoice id={id} facts={facts} />
      <div className={css.inline}>
        <Field label="Shown lines" isLabelHidden>
          {(control) => (
            <Select {...control} value={level} choices={[{ value: '', label: 'All lines' }, ...LOG_LEVELS]} onValue={setLevel} />
          )}
        </Field>
        <Button isSmall aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
          {isFollowing ? 'Following' : 'Follow'}
        </Button>
        <CopyButton text={() => lines.map(({ at, level: word, text }) => `${clockText(at)} ${word} ${text}`).join('\n')} label="Copy all" />
      </div>
      {lines.length === 0 ? (
        <EmptyState title="The log is empty">What the server prints and logs appears here.</EmptyState>
      ) : (
        <div className={css.log}>
          <VirtualList<LogLine> label="Log" rows={lines} keyOf={({ seq }) => String(seq)} rowHeight={24} isFollowing={isFollowing}>
            {({ at, level: word, text, isProblem }) => (
              <div className={css.logLine} data-problem={isProblem} title={text}>
                <span className={css.muted}>{clockText(at)}</span>
                <span className={css.level}>{word}</span>
                <span className={css.logText}>{text}</span>
              </div>
            )}
          </VirtualList>
        </div>
      )}
    </>
  )
}
