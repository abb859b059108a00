/** One row: time, server, direction, method, latency bar, outcome. */

import { memo, type ReactNode } from 'react'
import { foreignName } from '../state/foreign-text.ts'
import { clockText, durationText } from '../state/format.ts'
import { latencyBar, type TimelineRow } from '../state/timeline.ts'
import css from './traffic.module.css'

const OUTCOMES: Readonly<Record<TimelineRow['outcome'], { sign: string; word: string }>> = {
  open: { sign: '◐', word: 'no answer yet' },
  done: { sign: '●', word: 'answered' },
  failed: { sign: '▲', word: 'failed' },
  none: { sign: '', word: '' },
}

export const MessageRow = memo(function MessageRow({ row }: { row: TimelineRow }): ReactNode {
  const { sign, word } = OUTCOMES[row.outcome]
  const [seconds, ms] = clockText(row.at).split('.')
  return (
    <div className={css.row} data-depth={row.depth} data-outcome={row.outcome}>
      <span className={css.time}>
        {seconds}
        <span className={css.ms}>.{ms}</span>
      </span>
      <span className={css.server}>{foreignName(row.server)}</span>
      <span className={css.direction} title={row.from === 'host' ? 'to the server' : 'from the server'}>
        <span aria-hidden="true">{row.from === 'host' ? '→' : '←'}</span>
        <span className="sr-only">{row.from === 'host' ? 'to the server' : 'from the server'}</span>
      </span>
      <span className={css.title}>
        {row.title}
        {row.rounds !== undefined && <span className={css.rounds}> {row.rounds} rounds</span>}
      </span>
      {row.violations > 0 && (
        <span className={css.violations} title={`Breaks ${row.violations} rules of revision ${row.revision ?? 'unknown'}`}>
          ▲ protocol
        </span>
      )}
      {row.durationMs !== undefined && (
        <span className={css.bar} aria-hidden="true">
          <span className={css.fill} style={{ width: `${latencyBar(row.durationMs) * 100}%` }} />
        </span>
      )}
      <span className={css.duration}>{row.durationMs === undefined ? '' : durationText(row.durationMs)}</span>
      <span className={css.outcome} title={word}>
        <span aria-hidden="true">{sign}</span>
        <span className="sr-only">{word}</span>
      </span>
    </div>
  )
})
