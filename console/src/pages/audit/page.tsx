/** The audit log: what was decided, what happened, and whether the log was changed. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import type { Effect } from '../../../../src/host/policy-tools/index.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { FilterChoice, Filters, FilterText } from '../../components/filters.tsx'
import { ListDetails, RowWords } from '../../components/list-details.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { VirtualList } from '../../components/virtual-list.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import { useServerChoices, withAllServers } from '../../hooks/use-server-choices.ts'
import { ACTION_CHOICES, type AuditRow, auditRows, matchingRows } from '../../state/audit.ts'
import { clockText } from '../../state/format.ts'
import css from './page.module.css'
import { RecordDetails } from './record-details.tsx'
import { type AuditFilters, useAudit } from './use-audit.ts'
import { useExport } from './use-export.ts'
import { Verdict } from './verdict.tsx'

const DECISIONS = [
  { value: '', label: 'All decisions' },
  { value: 'allow', label: 'Allowed' },
  { value: 'deny', label: 'Denied' },
  { value: 'quarantine', label: 'Held back' },
  { value: 'ask', label: 'Asked, not answered' },
]

const ACTIONS = [{ value: '', label: 'All actions' }, ...ACTION_CHOICES]

export function AuditPage(): ReactNode {
  const { record, server } = useSearch({ from: '/audit' })
  const navigate = useNavigate({ from: '/audit' })
  const [action, setAction] = useState('')
  const [effect, setEffect] = useState('')
  const [search, setSearch] = useState('')
  const filters = useMemo<AuditFilters>(
    () => ({ ...(server && { server }), ...(action && { action }), ...(effect && { effect: effect as Effect }) }),
    [server, action, effect],
  )
  const log = useAudit(filters)
  const servers = useServerChoices()
  const { isExporting, exportAll } = useExport()
  const verify = useAction('POST /api/audit/verify')
  const rows = useMemo(() => matchingRows(auditRows(log.records ?? []), search), [log.records, search])
  const selected = rows.find(({ seq }) => String(seq) === record)
  const show = (seq: number): void => void navigate({ search: (now) => ({ ...now, record: String(seq) }) })
  const isFiltered = server !== undefined || action !== '' || effect !== '' || search !== ''

  return (
    <div className={css.page}>
      <PageHeader
        title="Audit"
        about="Every decision and every action, in the order they happened. A changed record is detected."
        actions={
          <>
            <Button isBusy={verify.isPending} onClick={() => verify.mutate({})}>
              Verify
            </Button>
            <Button isBusy={isExporting} disabled={log.records?.length === 0} onClick={() => void exportAll()}>
              Export
            </Button>
          </>
        }
      />
      {verify.isError && <ErrorState title="The log could not be verified" error={verify.error} />}
      {verify.data && <Verdict verdict={verify.data} onShow={show} />}
      <Filters>
        <FilterText label="Search in the list" placeholder="Search" value={search} onValue={setSearch} />
        <FilterChoice
          label="Server"
          value={server}
          choices={withAllServers(servers)}
          onValue={(value) => void navigate({ search: ({ server: _, ...rest }) => (value === '' ? rest : { ...rest, server: value }) })}
        />
        <FilterChoice label="Action" value={action} choices={ACTIONS} onValue={setAction} />
        <FilterChoice label="Decision" value={effect} choices={DECISIONS} onValue={setEffect} />
      </Filters>
      {log.error && <ErrorState title="The log could not be fetched" error={log.error} onRetry={log.refetch} />}
      {!log.records && !log.error && <Skeleton lines={8} />}
      {log.records && rows.length === 0 && (
        <EmptyState title={isFiltered ? 'No record matches' : 'No record yet'}>
          {isFiltered ? 'Change the filters, or search for less.' : 'Call a tool: the decision and the outcome appear here.'}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <ListDetails
          className={css.columns}
          listClassName={css.list}
          list={
            <VirtualList
              label="Records"
              rows={rows}
              keyOf={({ seq }) => String(seq)}
              rowHeight={52}
              selected={record}
              onSelect={({ seq }) => show(seq)}
            >
              {(row) => <RecordRow row={row} />}
            </VirtualList>
          }
          below={
            log.hasOlder && (
              <Button kind="quiet" isBusy={log.isFetchingOlder} onClick={log.fetchOlder}>
                Show older records
              </Button>
            )
          }
          details={selected && <RecordDetails row={selected} />}
        />
      )}
    </div>
  )
}

function RecordRow({ row }: { row: AuditRow }): ReactNode {
  return (
    <div className={css.row}>
      <span className={css.time}>{clockText(row.at).slice(0, 8)}</span>
      <RowWords name={row.what} about={[row.who, row.because, row.outcome].filter(Boolean).join(' · ')} />
      {row.decision !== '' && (
        <Badge tone={row.decision === 'denied' ? 'danger' : row.tone === 'danger' ? 'waiting' : 'fine'}>{row.decision}</Badge>
      )}
    </div>
  )
}
