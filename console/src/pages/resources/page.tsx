/** The resources of all servers: read one, fill in a template, keep what was read up to date. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useCallback, useMemo } from 'react'
import { CatalogPage } from '../../catalog/catalog-page.tsx'
import { EmptyState } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { resourceItem, templateItem } from '../../state/catalog.ts'
import { ResourcePanel } from './resource-panel.tsx'
import { TemplatePanel } from './template-panel.tsx'

export function ResourcesPage(): ReactNode {
  const { uri, template, server, q } = useSearch({ from: '/resources' })
  const navigate = useNavigate({ from: '/resources' })
  const listed = useRoute('GET /api/resources')
  const templates = useRoute('GET /api/templates')
  const items = useMemo(
    () =>
      listed.data && templates.data
        ? // Templates of a server stand before its resources: they are few.
          [...templates.data.templates.map(templateItem), ...listed.data.resources.map(resourceItem)]
        : undefined,
    [listed.data, templates.data],
  )
  const search = useCallback((text: string) => void navigate({ search: (now) => ({ ...now, q: text }), replace: true }), [navigate])
  const entry = listed.data?.resources.find(({ definition }) => definition.uri === uri)
  const filled = templates.data?.templates.find(
    (each) => each.definition.uriTemplate === template && (server === undefined || each.server === server),
  )
  const select = (key: string): void => {
    const found = templates.data?.templates.find((each) => templateItem(each).key === key)
    const chosen = found ? { template: found.definition.uriTemplate, server: found.server } : { uri: key.slice('uri '.length) }
    void navigate({ search: ({ q: text }) => ({ ...chosen, ...(text && { q: text }) }) })
  }
  return (
    <CatalogPage
      title="Resources"
      about="Data that servers offer: files, notes, records. Read one, or follow its changes."
      noun="resource"
      items={items}
      error={listed.error ?? templates.error}
      onRetry={() => {
        void listed.refetch()
        void templates.refetch()
      }}
      search={q}
      onSearch={search}
      selected={filled ? templateItem(filled).key : uri === undefined ? undefined : `uri ${uri}`}
      onSelect={select}
      onBack={() => void navigate({ search: ({ q: text }) => (text ? { q: text } : {}) })}
      detail={
        filled ? (
          <TemplatePanel key={`${filled.server} ${template}`} entry={filled} />
        ) : uri !== undefined ? (
          <ResourcePanel key={uri} uri={uri} entry={entry} />
        ) : template !== undefined && items ? (
          <EmptyState title="There is no such template">Its server may be off. Pick another one from the list.</EmptyState>
        ) : undefined
      }
      hint={<EmptyState title="Pick a resource">You see what it is before anything is read.</EmptyState>}
    />
  )
}
