/** One entry of a conversation. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useDeferredValue, useMemo } from 'react'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { SafeMarkdown } from '../../components/safe-markdown.tsx'
import { FirstParts } from '../../results/first-parts.tsx'
import type { ChatCall, ChatEntry } from '../../state/chat.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { shortened } from '../../state/format.ts'
import css from './page.module.css'

/** @param isWaiting a question about this call waits for the person @param view of the result of this call */
export function Entry({ entry, isWaiting, view }: { entry: ChatEntry; isWaiting: boolean; view?: ReactNode }): ReactNode {
  switch (entry.kind) {
    case 'said':
      return (
        <div className={css.said} data-by={entry.by}>
          <span className="sr-only">{entry.by === 'person' ? 'You' : 'Model'}: </span>
          {entry.by === 'person' ? <p className={css.words}>{foreignText(entry.text)}</p> : <ModelText text={entry.text} />}
        </div>
      )
    case 'data':
      return (
        <div className={css.viewData} data-by="person">
          <Fold label={`Data of the view ${foreignName(entry.source)} went to the model with your message`}>
            <pre className={css.result}>{foreignText(entry.text)}</pre>
          </Fold>
        </div>
      )
    case 'attached':
      return <p className={css.muted}>A file ({foreignName(entry.what)}) was attached.</p>
    case 'call':
      return (
        <>
          <Call call={entry} isWaiting={isWaiting} />
          {view}
        </>
      )
    case 'failed':
      return (
        <p role="alert">
          <Badge tone="danger">Failed</Badge> {foreignText(entry.text)}
        </p>
      )
    case 'ended':
      return <p className={css.muted}>{entry.text}</p>
  }
}

/** Text that grows is drawn when there is time, not for each piece of it. */
function ModelText({ text }: { text: string }): ReactNode {
  const shown = useDeferredValue(text)
  return <SafeMarkdown text={useMemo(() => foreignText(shown), [shown])} />
}

const STATES: Readonly<Record<ChatCall['state'], { word: string; tone: Tone }>> = {
  running: { word: 'running', tone: 'waiting' },
  done: { word: 'done', tone: 'fine' },
  failed: { word: 'failed', tone: 'danger' },
  refused: { word: 'not run', tone: 'plain' },
}

const WAITING = { word: 'waits for you', tone: 'waiting' } as const

function Call({ call, isWaiting }: { call: ChatCall; isWaiting: boolean }): ReactNode {
  const { word, tone } = isWaiting ? WAITING : STATES[call.state]
  return (
    <div className={css.call}>
      <Fold
        label={
          <span className={css.callLabel}>
            <code>{foreignName(call.name)}</code>
            <span className={css.callArgs}>{shortened(foreignName(JSON.stringify(call.args ?? {})), 90)}</span>
            <Badge tone={tone}>{word}</Badge>
            {call.decided && <span className={css.muted}>{[call.decided.because, call.decided.outcome].filter(Boolean).join(' · ')}</span>}
          </span>
        }
      >
        <JsonTree value={call.args ?? {}} label="Arguments" />
        {call.reason !== undefined && <p>{foreignText(call.reason)}</p>}
        {call.decided && (
          <p className={css.muted}>
            {call.decided.decision}: {call.decided.because}.{' '}
            <Link to="/audit" search={{ record: String(call.decided.seq) }}>
              Why?
            </Link>
          </p>
        )}
        {call.structured !== undefined ? (
          <JsonTree value={call.structured} label="Result" />
        ) : (
          <FirstParts parts={call.content ?? []} more="Show more parts">
            {(block, index) => <Block key={index} block={block} />}
          </FirstParts>
        )}
      </Fold>
    </div>
  )
}

function Block({ block }: { block: unknown }): ReactNode {
  const { type, text } = (block ?? {}) as { type?: string; text?: unknown }
  if (type === 'text' && typeof text === 'string') return <pre className={css.result}>{foreignText(shortened(text, 20_000))}</pre>
  return <JsonTree value={block} label="Result" />
}
