/** What a server offers: in use, waiting for approval, gone. Read-only claims can be accepted here. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ServerDetails } from '../../../../src/console/api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Checkbox } from '../../components/field.tsx'
import { Section } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { useAction, useRoute } from '../../hooks/use-console.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { counted, itemText, shortened } from '../../state/format.ts'
import { offeredItems } from '../../state/offered-items.ts'
import css from './page.module.css'
import { Skills } from './skills.tsx'

export function OfferingTab({ server, onReview }: { server: ServerDetails; onReview(): void }): ReactNode {
  const query = { query: { server: server.id } }
  const tools = useRoute('GET /api/tools', query)
  const prompts = useRoute('GET /api/prompts', query)
  const resources = useRoute('GET /api/resources', query)
  const templates = useRoute('GET /api/templates', query)
  const items = offeredItems({
    tools: tools.data?.tools,
    prompts: prompts.data?.prompts,
    resources: resources.data?.resources,
    templates: templates.data?.templates,
  })
  const waiting = server.review?.items ?? []
  if (tools.isPending) return <Skeleton lines={5} />
  if (tools.isError)
    return <ErrorState title="The offering could not be fetched" error={tools.error} onRetry={() => void tools.refetch()} />
  return (
    <>
      {waiting.length > 0 && (
        <Section
          title="Waits for your approval"
          actions={
            <Button kind="main" onClick={onReview}>
              Review {counted(waiting.length, 'item')}
            </Button>
          }
        >
          <ul>
            {waiting.map(({ kind, name, difference }) => (
              <li key={`${kind} ${name}`}>
                <Badge tone="waiting">{difference ? 'changed' : 'new'}</Badge> {foreignName(itemText({ kind, name }))}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {items.length === 0 ? (
        <EmptyState title="Nothing is in use">Enable the server to see what it offers.</EmptyState>
      ) : (
        <Section title="In use">
          <Table
            label="Offering"
            rows={items}
            keyOf={({ kind, name }) => `${kind} ${name}`}
            columns={[
              { id: 'kind', head: 'Kind', cell: ({ kind }) => kind },
              {
                id: 'name',
                head: 'Name',
                cell: (item) => (
                  <Link to={item.to} search={item.search}>
                    {foreignName(item.name)}
                  </Link>
                ),
              },
              {
                id: 'about',
                head: 'Description, by the server',
                cell: ({ description, badges }) => (
                  <>
                    {badges.map(({ text, tone }) => (
                      <Badge key={text} tone={tone}>
                        {text}
                      </Badge>
                    ))}{' '}
                    {foreignText(shortened(description, 200))}
                  </>
                ),
              },
            ]}
          />
        </Section>
      )}
      <Skills server={server.id} />
      <ReadOnly id={server.id} />
      {server.notOffered.length > 0 && (
        <Section title="Approved, but not offered now">
          <p className={css.muted}>{server.notOffered.map(foreignName).join(', ')}</p>
        </Section>
      )}
    </>
  )
}

/** The tools that claim to only read. An accepted one runs without a question if nothing else speaks against it. */
function ReadOnly({ id }: { id: string }): ReactNode {
  const list = useRoute('GET /api/servers/:id/read-only', { params: { id } })
  const accept = useAction('POST /api/servers/:id/read-only', { stale: ['GET /api/servers/:id/read-only', 'GET /api/tools'] })
  const tools = list.data?.tools ?? []
  if (tools.length === 0) return null
  return (
    <Section title="Tools that say they only read">
      <p className={css.muted}>Tick those that you believe: they run without a question inside your shared folders.</p>
      {accept.isError && <ErrorState title="The change was not stored" error={accept.error} />}
      <div className={css.checks}>
        {tools.map(({ name, isAccepted }) => (
          <Checkbox
            key={name}
            label={foreignName(name)}
            checked={isAccepted}
            disabled={accept.isPending}
            onChange={() => accept.mutate({ params: { id }, body: { tools: [name], ...(isAccepted && { isRevoked: true }) } })}
          />
        ))}
      </div>
    </Section>
  )
}
