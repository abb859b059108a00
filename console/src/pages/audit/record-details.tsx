/** One record: the decision in words, its arguments, and its place in the chain. */

import type { ReactNode } from 'react'
import { Badge } from '../../components/badge.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import type { AuditRow } from '../../state/audit.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { bytesText, dateText } from '../../state/format.ts'
import css from './page.module.css'

export function RecordDetails({ row }: { row: AuditRow }): ReactNode {
  const { record, ended } = row
  const entry = record.kind === 'intent' || record.kind === 'refusal' ? record.entry : undefined
  return (
    <section className={css.details} aria-label={`Record ${row.seq}`}>
      <h2 className={css.detailsTitle}>{row.what}</h2>
      <p className={css.muted}>
        Record {row.seq}, {dateText(row.at)}
      </p>
      {entry && (
        <dl className={css.facts}>
          <dt>Wanted by</dt>
          <dd>{row.who}</dd>
          <dt>Decision</dt>
          <dd>
            <Badge tone={row.decision === 'denied' ? 'danger' : 'fine'}>{row.decision}</Badge> {row.because}
          </dd>
          <dt>Why</dt>
          <dd>
            <ul className={css.reasons}>
              {entry.reasons.length === 0 && <li>No rule was needed.</li>}
              {entry.reasons.map((reason) => (
                <li key={reason}>{foreignText(reason)}</li>
              ))}
            </ul>
          </dd>
          {ended && (
            <>
              <dt>Outcome</dt>
              <dd>
                {row.outcome}
                {ended.resultBytes !== undefined && `, ${bytesText(ended.resultBytes)}`}
                {ended.error !== undefined && <p className={css.fault}>{foreignText(ended.error)}</p>}
              </dd>
            </>
          )}
          {entry.args && (
            <>
              <dt>Arguments</dt>
              <dd>
                {!entry.args.isWhole && <p className={css.muted}>The log has only the beginning ({bytesText(entry.args.bytes)} in all).</p>}
                {typeof entry.args.preview === 'string' ? (
                  <pre className={css.preview}>{foreignText(entry.args.preview)}</pre>
                ) : (
                  <JsonTree value={entry.args.preview} label="Arguments" />
                )}
              </dd>
            </>
          )}
        </dl>
      )}
      <Fold label="The record as it is stored">
        <JsonTree value={record} label="Record" openLevels={1} />
        <CopyButton text={() => JSON.stringify(record, null, 2)} label="Copy JSON" />
        <p className={css.hash}>hash {foreignName(record.hash)}</p>
      </Fold>
    </section>
  )
}
