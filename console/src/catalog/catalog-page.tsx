/** The layout of a page with a list at the left and one thing at the right. On a phone only one of them is shown. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { Badge } from '../components/badge.tsx'
import { Button, buttonClass } from '../components/button.tsx'
import { Field, TextInput } from '../components/field.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'
import { VirtualList } from '../components/virtual-list.tsx'
import { useRoute } from '../hooks/use-console.tsx'
import { type CatalogItem, type CatalogRow, catalogRows } from '../state/catalog.ts'
import { foreignName } from '../state/foreign-text.ts'
import { counted } from '../state/format.ts'
import css from './catalog.module.css'

export interface CatalogPageProps {
  title: string
  about: string
  /** One of them: `tool`. */
  noun: string
  /** Undefined while they are fetched. */
  items: readonly CatalogItem[] | undefined
  /** Some servers do not answer, so the list may lack something. */
  error: { code?: string; message: string } | null
  onRetry(): void
  /** The text of the address to search for. */
  search: string | undefined
  onSearch(text: string): void
  /** Buttons that narrow the list. */
  filters?: ReactNode
  isFiltered?: boolean
  selected: string | undefined
  onSelect(key: string): void
  onBack(): void
  /** What was selected. Undefined: nothing. */
  detail: ReactNode
  /** Shown in place of it. */
  hint: ReactNode
}

const ROW_HEIGHT = 52
const PAUSE_MS = 300

export function CatalogPage(props: CatalogPageProps): ReactNode {
  const { title, about, noun, items, error, onRetry, filters, isFiltered = false, selected, onSelect, onBack, detail, hint } = props
  const [text, setText] = useSearchText(props.search, props.onSearch)
  const rows = useMemo(() => catalogRows(items ?? [], text), [items, text])
  const names = useServerNames()
  const hasDetail = detail !== undefined
  const isNarrowed = isFiltered || text.trim() !== ''
  return (
    <div className={css.page} data-has-detail={hasDetail}>
      <PageHeader title={title} about={about} />
      {error && !items && <ErrorState title="The list could not be fetched" error={error} onRetry={onRetry} />}
      {!error && !items && <Skeleton lines={8} />}
      {items?.length === 0 && !hasDetail && !isFiltered && <NothingYet noun={noun} />}
      {items && (items.length > 0 || hasDetail || isFiltered) && (
        <div className={css.columns} data-has-detail={hasDetail}>
          <div className={css.side}>
            <Field label={`Search ${noun}s`} isLabelHidden>
              {(control) => (
                <TextInput
                  {...control}
                  type="search"
                  placeholder={`Search ${counted(items.length, noun)}`}
                  value={text}
                  onChange={(event) => setText(event.target.value)}
                />
              )}
            </Field>
            {filters && (
              <div className={css.filters} role="group" aria-label="Show only">
                {filters}
              </div>
            )}
            {rows.length === 0 ? (
              <EmptyState title={isNarrowed ? `No ${noun} matches` : `No ${noun} yet`}>
                {isNarrowed ? 'Search for less, or change the filters.' : 'The enabled servers offer none.'}
              </EmptyState>
            ) : (
              <VirtualList<CatalogRow>
                label={title}
                rows={rows}
                keyOf={({ key }) => key}
                rowHeight={ROW_HEIGHT}
                className={css.list ?? ''}
                selected={selected}
                isHeading={({ kind }) => kind === 'group'}
                onSelect={({ key }) => onSelect(key)}
              >
                {(row) => (row.kind === 'group' ? <GroupRow row={row} name={names.get(row.server)} /> : <ItemRow item={row.item} />)}
              </VirtualList>
            )}
          </div>
          <div className={css.detail}>
            {hasDetail && (
              <Button kind="quiet" isSmall className={css.back} onClick={onBack}>
                ← All {noun}s
              </Button>
            )}
            {hasDetail ? detail : hint}
          </div>
        </div>
      )}
    </div>
  )
}

/** The text while it is typed. The address follows after a pause. */
function useSearchText(search: string | undefined, onSearch: (text: string) => void): [string, (text: string) => void] {
  const [text, setText] = useState(search ?? '')
  useEffect(() => {
    if (text === (search ?? '')) return
    const timer = setTimeout(() => onSearch(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, search, onSearch])
  return [text, setText]
}

function useServerNames(): ReadonlyMap<string, string> {
  const servers = useRoute('GET /api/servers').data?.servers
  return useMemo(() => new Map((servers ?? []).map(({ id, title }) => [id, foreignName(title ?? id)])), [servers])
}

const GroupRow = ({ row, name }: { row: Extract<CatalogRow, { kind: 'group' }>; name: string | undefined }): ReactNode => (
  <div className={css.group}>
    <span className={css.groupName}>{name ?? foreignName(row.server)}</span>
    <span className={css.count}>{row.count.toLocaleString('en')}</span>
  </div>
)

const ItemRow = ({ item }: { item: CatalogItem }): ReactNode => (
  <div className={css.row}>
    <span className={css.title}>{item.title}</span>
    <span className={css.second}>
      {item.badges.map(({ text, tone, title }) => (
        <Badge key={text} tone={tone} title={title}>
          {text}
        </Badge>
      ))}
      <span className={css.about}>{item.about}</span>
    </span>
  </div>
)

const NothingYet = ({ noun }: { noun: string }): ReactNode => (
  <EmptyState
    title={`No ${noun} yet`}
    action={
      <Link to="/servers" className={buttonClass({ kind: 'main' })}>
        Open servers
      </Link>
    }
  >
    Enable a server, and its {noun}s appear here.
  </EmptyState>
)
