/** What you allowed for longer, with a button to revoke each. */

import type { ReactNode } from 'react'
import type { GrantView } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Fold } from '../../components/fold.tsx'
import { Section } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { useAction, useNotify, useRoute } from '../../hooks/use-console.tsx'
import { foreignText } from '../../state/foreign-text.ts'
import { dateText } from '../../state/format.ts'
import { sortedGrants } from '../../state/grants.ts'
import css from './page.module.css'

export function Grants(): ReactNode {
  const list = useRoute('GET /api/grants')
  const revoke = useAction('DELETE /api/grants/:id', { stale: ['GET /api/grants'] })
  const notify = useNotify()
  if (list.isPending) return <Skeleton lines={4} />
  if (list.isError) return <ErrorState title="The grants could not be fetched" error={list.error} onRetry={() => void list.refetch()} />
  const { current: live, earlier } = sortedGrants(list.data.grants)
  const expired = list.data.grants.filter(({ isExpired }) => isExpired)
  const remove = ({ id }: GrantView): void =>
    revoke.mutate({ params: { id } }, { onSuccess: () => notify({ tone: 'fine', text: 'Revoked. You are asked again next time.' }) })
  return (
    <Section title="Grants">
      {revoke.isError && <ErrorState title="The grant was not revoked" error={revoke.error} />}
      {live.length === 0 ? (
        <EmptyState title="Nothing is allowed beyond a single time">
          When you answer a question with “Always allow”, the grant appears here and you can revoke it.
        </EmptyState>
      ) : (
        <Table
          label="Grants"
          rows={live}
          keyOf={({ id }) => id}
          columns={[
            {
              id: 'text',
              head: 'Allowed',
              cell: ({ text, at, until, expiresAt }) => (
                <>
                  {foreignText(text)}
                  <span className={css.ruleId}>
                    You said so on {dateText(at)}, {expiresAt === undefined ? until : `until ${dateText(expiresAt)}`}
                  </span>
                </>
              ),
            },
            {
              id: 'revoke',
              head: <span className="sr-only">Revoke</span>,
              isAction: true,
              cell: (grant) => (
                <Button
                  isSmall
                  kind="danger"
                  disabled={revoke.isPending}
                  aria-label={`Revoke: ${foreignText(grant.text)}`}
                  onClick={() => remove(grant)}
                >
                  Revoke
                </Button>
              ),
            },
          ]}
        />
      )}
      {earlier.length > 0 && (
        <Fold label={`For earlier versions of a command or its files (${earlier.length})`}>
          <p>They count only if the files are again as they were then.</p>
          <ul>
            {earlier.map((grant) => (
              <li key={grant.id}>
                {foreignText(grant.text)}, {dateText(grant.at)}{' '}
                <Button
                  isSmall
                  kind="danger"
                  disabled={revoke.isPending}
                  aria-label={`Revoke: ${foreignText(grant.text)}, ${dateText(grant.at)}`}
                  onClick={() => remove(grant)}
                >
                  Revoke
                </Button>
              </li>
            ))}
          </ul>
        </Fold>
      )}
      {expired.length > 0 && (
        <Fold label={`Expired (${expired.length})`}>
          <ul>
            {expired.map(({ id, text }) => (
              <li key={id}>
                <Badge>expired</Badge> {foreignText(text)}
              </li>
            ))}
          </ul>
        </Fold>
      )}
    </Section>
  )
}
