/** One exchange: the request, the answer, headers, rules of the protocol that it breaks, and ways to copy it. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { isObject } from '../../../src/base/json.ts'
import type { MessageDetails } from '../../../src/console/api.ts'
import { Badge } from '../components/badge.tsx'
import { Button, buttonClass, IconButton } from '../components/button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Fold } from '../components/fold.tsx'
import { JsonTree } from '../components/json-tree.tsx'
import { DetailsPane } from '../components/list-details.tsx'
import { ErrorState, Skeleton } from '../components/states.tsx'
import { useConsole, useNotify, useOperation, useRoute } from '../hooks/use-console.tsx'
import { useIsWide } from '../hooks/use-is-wide.ts'
import { foreignName, foreignText } from '../state/foreign-text.ts'
import { bytesText, dateText, durationText } from '../state/format.ts'
import { asCurl } from '../state/message-copies.ts'
import { isTestable, type TimelineRow } from '../state/timeline.ts'
import { HttpView } from './http-view.tsx'
import { TestDialog } from './test-dialog.tsx'
import css from './traffic.module.css'

/** What stays visible above the details on a phone. */
const ABOVE_PX = 12

export function MessageDetailsPane({ row, onClose }: { row: TimelineRow; onClose(): void }): ReactNode {
  const first = useRoute('GET /api/timeline/:seq', { params: { seq: String(row.seq) } })
  const answer = useRoute('GET /api/timeline/:seq', { params: { seq: String(row.answer ?? 0) } }, { isEnabled: row.answer !== undefined })
  const [isTesting, setTesting] = useState(false)
  const pane = useRef<HTMLElement>(null)
  const isWide = useIsWide()
  useEffect(() => {
    // On a phone it stands under the list, out of sight.
    const page = isWide ? null : pane.current?.closest('main')
    if (page && pane.current) page.scrollTop += pane.current.getBoundingClientRect().top - page.getBoundingClientRect().top - ABOVE_PX
  }, [isWide])
  const request = first.data?.message
  const call = row.method === 'tools/call' && row.from === 'host' ? callOf(request) : undefined
  return (
    <DetailsPane ref={pane} className={css.details} label={`Message ${row.seq}`}>
      <header className={css.detailsTop}>
        <h2>{row.title}</h2>
        <IconButton label="Close the details" isSmall onClick={onClose}>
          ✕
        </IconButton>
      </header>
      <p className={css.muted}>
        {foreignName(row.server)}, {dateText(row.at)}
        {row.durationMs !== undefined && `, ${durationText(row.durationMs)}`}, {bytesText(row.bytes)}
        {row.revision !== undefined && `, revision ${foreignName(row.revision)}`}
      </p>
      {row.failure !== undefined && (
        <p>
          <Badge tone="danger">Failed</Badge> {foreignText(row.failure)}
        </p>
      )}
      <div className={css.actions}>
        {call && (
          <Link
            to="/tools"
            search={{ tool: `${row.server}/${call.name}`, sent: row.seq }}
            className={buttonClass({ isSmall: true, kind: 'main' })}
          >
            Edit and run again
          </Link>
        )}
        {call && <RunAgain server={row.server} name={call.name} args={call.args} />}
        {isTestable(row) && (
          <Button isSmall onClick={() => setTesting(true)}>
            Make a test
          </Button>
        )}
        <TranscriptButton row={row} />
        {request?.http && <CopyButton label="Copy as curl" text={() => asCurl(request)} />}
      </div>
      {isTesting && <TestDialog of={{ message: row.seq }} onClose={() => setTesting(false)} />}
      {first.isPending && <Skeleton lines={5} />}
      {first.isError && <ErrorState title="The message is no longer here" error={first.error} advice="It was removed to save memory." />}
      {request && <Contents title={row.kind === 'request' ? 'Request' : 'Message'} details={request} isOpen />}
      {answer.data && <Contents title="Answer" details={answer.data.message} isOpen />}
      {row.outcome === 'open' && <p className={css.muted}>No answer yet.</p>}
    </DetailsPane>
  )
}

function Contents({ title, details, isOpen }: { title: string; details: MessageDetails; isOpen: boolean }): ReactNode {
  const { message, violations, http } = details
  return (
    <>
      {violations.length > 0 && (
        <div className={css.broken} role="note">
          <p>
            <Badge tone="danger">Breaks the protocol</Badge> {title}, revision {foreignName(details.revision ?? 'unknown')}:
          </p>
          <ul>
            {violations.map(({ pointer, text }) => (
              <li key={`${pointer} ${text}`}>
                <code>{foreignName(pointer || '/')}</code> {foreignText(text)}
              </li>
            ))}
          </ul>
        </div>
      )}
      {http && <HttpView http={http} />}
      <Fold label={`${title} (${bytesText(details.bytes)})`} isOpen={isOpen}>
        {message === undefined ? (
          <p className={css.muted}>It was too large to keep.</p>
        ) : (
          <>
            <JsonTree value={message} label={title} openLevels={4} />
            <CopyButton label="Copy JSON" text={() => JSON.stringify(message, null, 2)} />
          </>
        )}
      </Fold>
    </>
  )
}

function TranscriptButton({ row }: { row: TimelineRow }): ReactNode {
  const { api } = useConsole()
  const notify = useNotify()
  const [isBusy, setBusy] = useState(false)
  const copy = async (): Promise<void> => {
    setBusy(true)
    try {
      const { text } = await api.call('POST /api/timeline/transcript', {
        body: { server: row.server, from: row.seq, to: row.lastAnswer ?? row.answer ?? row.seq },
      })
      await navigator.clipboard.writeText(text)
      notify({ tone: 'fine', text: 'Copied as a transcript.' })
    } catch (error) {
      notify({ tone: 'danger', text: (error as Error).message })
    }
    setBusy(false)
  }
  return (
    <Button isSmall isBusy={isBusy} onClick={() => void copy()}>
      Copy as transcript
    </Button>
  )
}

/** Sends the same call. It appears in the list. Hidden secrets cannot be sent again. */
function RunAgain({ server, name, args }: { server: string; name: string; args: unknown }): ReactNode {
  const { operation, isRunning, startError, start } = useOperation()
  if (!isObject(args) || JSON.stringify(args).includes('[redacted]')) return null
  const error = startError ?? operation?.error
  return (
    <>
      <Button isSmall isBusy={isRunning} onClick={() => void start('POST /api/tools/call', { body: { tool: { server, name }, args } })}>
        Run again
      </Button>
      {operation?.state === 'done' && <Badge tone="fine">ran again</Badge>}
      {error && <span className={css.fault}>{foreignText(error.message)}</span>}
    </>
  )
}

function callOf(details: MessageDetails | undefined): { name: string; args: unknown } | undefined {
  const { params } = (details?.message ?? {}) as { params?: { name?: unknown; arguments?: unknown } }
  return typeof params?.name === 'string' ? { name: params.name, args: params.arguments ?? {} } : undefined
}
