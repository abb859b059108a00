/** Recordings: listed, opened from a file, saved, sent again, compared. */

import { type ChangeEvent, type ReactNode, useRef, useState } from 'react'
import type { RecordingView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Menu } from '../../components/menu.tsx'
import { Section } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { saveText } from '../../hooks/save-text.ts'
import { useAction, useConsole, useNotify, useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { bytesText, counted, dateText } from '../../state/format.ts'
import { Compare } from './compare.tsx'
import css from './page.module.css'
import { ReplayRecording } from './replay-recording.tsx'

export function Recordings(): ReactNode {
  const list = useRoute('GET /api/recordings')
  const open = useAction('POST /api/recordings/open', { stale: ['GET /api/recordings'] })
  const remove = useAction('DELETE /api/recordings/:id', { stale: ['GET /api/recordings'] })
  const { api } = useConsole()
  const notify = useNotify()
  const file = useRef<HTMLInputElement>(null)
  const [replayed, setReplayed] = useState<RecordingView>()
  if (list.isPending) return <Skeleton lines={4} />
  if (list.isError) return <ErrorState title="The recordings could not be fetched" error={list.error} onRetry={() => void list.refetch()} />
  const { recordings } = list.data
  // Opened files can be empty: nothing can be compared with them.
  const stored = recordings.filter(({ state, messages }) => state === 'stored' && messages > 0)
  const save = async ({ id, title }: RecordingView): Promise<void> => {
    try {
      const { text } = await api.call('GET /api/recordings/:id/text', { params: { id } })
      saveText(`${title.replace(/[^\w.-]+/g, '-') || 'recording'}.jsonl`, text)
    } catch (error) {
      notify({ tone: 'danger', text: (error as Error).message })
    }
  }
  const opened = async (event: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const [chosen] = event.target.files ?? []
    if (chosen) open.mutate({ body: { text: await chosen.text(), title: chosen.name } })
    event.target.value = ''
  }
  return (
    <>
      <Section
        title="Recordings"
        actions={
          <>
            <input
              ref={file}
              type="file"
              className="sr-only"
              tabIndex={-1}
              aria-label="Recording to open"
              onChange={(event) => void opened(event)}
            />
            <Button isBusy={open.isPending} onClick={() => file.current?.click()}>
              Open a file
            </Button>
          </>
        }
      >
        {open.isError && <ErrorState title="The file is not a recording" error={open.error} />}
        {remove.isError && <ErrorState title="The recording was not removed" error={remove.error} />}
        {recordings.length === 0 ? (
          <EmptyState title="No recording yet">
            Press Record, use your servers, and stop. A recording can be sent to a server again, and compared with another one.
          </EmptyState>
        ) : (
          <Table
            label="Recordings"
            rows={recordings}
            keyOf={({ id }) => id}
            columns={[
              {
                id: 'title',
                head: 'Recording',
                cell: ({ title, target, state, isFull }) => (
                  <>
                    {foreignName(title)} {!title.startsWith(target) && <span className={css.muted}>{foreignName(target)}</span>}{' '}
                    {state === 'recording' && <Badge tone="danger">recording</Badge>}
                    {state === 'damaged' && <Badge tone="danger">cannot be read</Badge>}
                    {isFull && <Badge tone="waiting">full: the rest is missing</Badge>}
                  </>
                ),
              },
              { id: 'at', head: 'Started', isExtra: true, cell: ({ startedAt }) => dateText(startedAt) },
              {
                id: 'size',
                head: 'Messages',
                isNumber: true,
                cell: ({ messages, bytes }) => <span title={bytesText(bytes)}>{messages.toLocaleString('en')}</span>,
              },
              {
                id: 'actions',
                head: <span className="sr-only">Actions</span>,
                isAction: true,
                cell: (recording) =>
                  recording.state !== 'recording' && (
                    <Menu
                      label="Actions"
                      isSmall
                      accessibleLabel={`Actions for ${foreignName(recording.title)}`}
                      actions={[
                        ...(recording.state === 'stored'
                          ? [
                              { label: 'Send again', help: 'To a server, and compare the answers', onSelect: () => setReplayed(recording) },
                              { label: 'Save', help: 'As a transcript file', onSelect: () => void save(recording) },
                            ]
                          : []),
                        { label: 'Remove', isDanger: true, onSelect: () => remove.mutate({ params: { id: recording.id } }) },
                      ]}
                    />
                  ),
              },
            ]}
          />
        )}
      </Section>
      {replayed && <ReplayRecording recording={replayed} key={replayed.id} onClose={() => setReplayed(undefined)} />}
      {stored.length > 1 && <Compare recordings={stored} />}
      {stored.length === 1 && <p className={css.muted}>{counted(1, 'recording')}. Record a second run to compare the two.</p>}
    </>
  )
}
