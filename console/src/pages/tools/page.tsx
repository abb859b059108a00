/** The tools of all servers: find one, fill in its form, run it, see what it gives. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import css from '../../catalog/catalog.module.css'
import { CatalogPage } from '../../catalog/catalog-page.tsx'
import { useGivenArguments } from '../../catalog/use-given-arguments.ts'
import { useLinkOffer } from '../../catalog/use-own-navigation.ts'
import { EmptyState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { findEntry, TOOL_FILTER_WORDS, TOOL_FILTERS, type ToolFilter, toolItem, toolTraits } from '../../state/catalog.ts'
import { MissingTool } from './missing-tool.tsx'
import { ToolPanel } from './tool-panel.tsx'

export function ToolsPage(): ReactNode {
  const { tool: wanted, q, ...search } = useSearch({ from: '/tools' })
  const navigate = useNavigate({ from: '/tools' })
  const list = useRoute('GET /api/tools')
  const [filters, setFilters] = useState<ReadonlySet<ToolFilter>>(new Set())
  const tools = list.data?.tools
  const items = useMemo(
    () =>
      tools
        ?.filter((tool) => {
          const traits = toolTraits(tool)
          return [...filters].every((filter) => traits.has(filter))
        })
        .map(toolItem),
    [tools, filters],
  )
  const onUseLink = useLinkOffer()
  const tool = findEntry(tools ?? [], wanted)
  const given = useGivenArguments(search)
  const onSearch = useCallback((text: string) => void navigate({ search: (now) => ({ ...now, q: text }), replace: true }), [navigate])
  const toggle = (filter: ToolFilter): void => {
    const next = new Set(filters)
    if (!next.delete(filter)) next.add(filter)
    setFilters(next)
  }
  return (
    <CatalogPage
      title="Tools"
      about="What servers can do for you. Pick one, fill in its form, and run it."
      noun="tool"
      items={items}
      error={list.error}
      onRetry={() => void list.refetch()}
      search={q}
      onSearch={onSearch}
      filters={TOOL_FILTERS.map((filter) => (
        <button key={filter} type="button" className={css.filter} aria-pressed={filters.has(filter)} onClick={() => toggle(filter)}>
          {TOOL_FILTER_WORDS[filter]}
        </button>
      ))}
      isFiltered={filters.size > 0}
      selected={tool?.exposed}
      onSelect={(key) => void navigate({ search: ({ q: text }) => ({ tool: key, ...(text && { q: text }) }) })}
      onBack={() => void navigate({ search: ({ q: text }) => (text ? { q: text } : {}) })}
      detail={
        given.isLoading ? (
          <Skeleton lines={6} />
        ) : tool ? (
          <ToolPanel
            key={`${tool.exposed} ${onUseLink === undefined} ${given.key}`}
            tool={tool}
            args={given.args}
            argsFault={given.fault}
            onUseLink={onUseLink}
          />
        ) : wanted !== undefined && tools ? (
          <MissingTool name={wanted} />
        ) : undefined
      }
      hint={<EmptyState title="Pick a tool">Its description, its form and its results appear here.</EmptyState>}
    />
  )
}
