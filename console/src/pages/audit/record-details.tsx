/** One record: the decision in words, its arguments, and its place in the chain. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge } from '../../components/badge.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Fact, Facts } from '../../components/facts.tsx'
import { Fold } from '../../components/fold.tsx'
import { JsonTree } from '../../components/json-tree.tsx'
import { DetailsPane } from '../../components/list-details.tsx'
import { StoredArguments } from '../../components/stored-arguments.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import type { AuditRow } from '../../state/audit.ts'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { bytesText, dateText } from '../../state/format.ts'
import css from './page.module.css'

export function RecordDetails({ row }: { row: AuditRow }): ReactNode {
  const { record, ended } = row
  const details = useRoute('GET /api/audit/:seq', { params: { seq: String(row.seq) } }).data
  const entry = record.kind === 'intent' || record.kind === 'refusal' ? record.entry : undefined
  // The decision says the first reason already, if there is no answer of the person.
  const why = (details?.why ?? entry?.reasons ?? []).filter((reason) => foreignName(reason) !== row.because)
  const { grant, now } = details ?? {}
  return (
    <DetailsPane className={css.details} label={`Record ${row.seq}`}>
      <h2 className={css.detailsTitle}>{row.what}</h2>
      <p className={css.muted}>
        Record {row.seq}, {dateText(row.at)}
      </p>
      {entry && (
        <Facts>
          <Fact name="Wanted by">{row.who}</Fact>
          <Fact name="Decision">
            <Badge tone={row.decision === 'denied' ? 'danger' : 'fine'}>{row.decision}</Badge> {row.because}
          </Fact>
          {why.length > 0 && (
            <Fact name="Why">
              <ul>
                {why.map((reason) => (
                  <li key={reason}>{foreignText(reason)}</li>
                ))}
              </ul>
            </Fact>
          )}
          {grant && (
            <Fact name="Grant">
              {foreignText(grant.text)} (
              <Link to="/policy" search={{ tab: 'grants' }}>
                revoke
              </Link>
              )
            </Fact>
          )}
          {now !== undefined && <Fact name="Today">{NOW[now] ?? now}</Fact>}
          {ended && (
            <Fact name="Outcome">
              {row.outcome}
              {ended.resultBytes !== undefined && `, ${bytesText(ended.resultBytes)}`}
              {ended.error !== undefined && <p className={css.fault}>{foreignText(ended.error)}</p>}
            </Fact>
          )}
          {entry.args && (
            <Fact name="Arguments">
              <StoredArguments
                isWhole={entry.args.isWhole}
                preview={typeof entry.args.preview === 'string' ? foreignText(entry.args.preview) : entry.args.preview}
                cut={`The log has only the beginning (${bytesText(entry.args.bytes)} in all).`}
              />
            </Fact>
          )}
        </Facts>
      )}
      <Fold label="The record as it is stored">
        <JsonTree value={record} label="Record" openLevels={1} />
        <CopyButton text={() => JSON.stringify(record, null, 2)} label="Copy JSON" />
        <p className={css.hash}>hash {foreignName(record.hash)}</p>
        {row.seq > 1 && <p className={css.muted}>The hash covers this record and the hash of record {row.seq - 1}.</p>}
      </Fold>
    </DetailsPane>
  )
}

/** What the policy in use would decide now. */
const NOW: Readonly<Record<string, string>> = {
  allow: 'Your policy would allow it.',
  ask: 'Your policy would ask you.',
  deny: 'Your policy would deny it.',
  quarantine: 'Your policy would hold it back.',
}
