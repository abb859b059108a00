/** The prompts of all servers: texts that servers prepare for a chat. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useCallback, useMemo } from 'react'
import { CatalogPage } from '../../catalog/catalog-page.tsx'
import { useGivenArguments } from '../../catalog/use-given-arguments.ts'
import { useLinkOffer } from '../../catalog/use-own-navigation.ts'
import { EmptyState, Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { findEntry, promptItem } from '../../state/catalog.ts'
import { foreignName } from '../../state/foreign-text.ts'
import { PromptPanel } from './prompt-panel.tsx'

export function PromptsPage(): ReactNode {
  const { prompt: wanted, q, ...search } = useSearch({ from: '/prompts' })
  const navigate = useNavigate({ from: '/prompts' })
  const list = useRoute('GET /api/prompts')
  const prompts = list.data?.prompts
  const items = useMemo(() => prompts?.map(promptItem), [prompts])
  const onUseLink = useLinkOffer()
  const prompt = findEntry(prompts ?? [], wanted)
  const given = useGivenArguments(search)
  const onSearch = useCallback((text: string) => void navigate({ search: (now) => ({ ...now, q: text }), replace: true }), [navigate])
  return (
    <CatalogPage
      title="Prompts"
      about="Texts that servers prepare for a chat. Fill in the blanks, look at the messages, use them."
      noun="prompt"
      items={items}
      error={list.error}
      onRetry={() => void list.refetch()}
      search={q}
      onSearch={onSearch}
      selected={prompt?.exposed}
      onSelect={(key) => void navigate({ search: ({ q: text }) => ({ prompt: key, ...(text && { q: text }) }) })}
      onBack={() => void navigate({ search: ({ q: text }) => (text ? { q: text } : {}) })}
      detail={
        given.isLoading ? (
          <Skeleton lines={6} />
        ) : prompt ? (
          <PromptPanel
            key={`${prompt.exposed} ${onUseLink === undefined} ${given.key}`}
            prompt={prompt}
            args={given.args}
            argsFault={given.fault}
            onUseLink={onUseLink}
          />
        ) : wanted !== undefined && prompts ? (
          <EmptyState title={`There is no prompt ${foreignName(wanted)}`}>
            Its server may be off, or may wait for your approval. Pick another one from the list.
          </EmptyState>
        ) : undefined
      }
      hint={<EmptyState title="Pick a prompt">You see its messages before a model does.</EmptyState>}
    />
  )
}
