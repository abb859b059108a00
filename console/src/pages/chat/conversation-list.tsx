/** The stored conversations, newest first. */

import type { ReactNode } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { useAction, useRoute } from '../../hooks/use-console.tsx'
import { foreignName } from '../../state/foreign-text.ts'
import { agoText, counted } from '../../state/format.ts'
import css from './page.module.css'

export function ConversationList({
  selected,
  onSelect,
}: {
  selected: string | undefined
  onSelect(id: string | undefined): void
}): ReactNode {
  const list = useRoute('GET /api/conversations')
  const remove = useAction('DELETE /api/conversations/:id', { stale: ['GET /api/conversations'] })
  const drop = (id: string): void =>
    remove.mutate(
      { params: { id } },
      {
        onSuccess: () => {
          if (id === selected) onSelect(undefined)
        },
      },
    )
  return (
    <nav className={css.conversations} aria-label="Conversations" data-has-selected={selected !== undefined}>
      <Button onClick={() => onSelect(undefined)}>New conversation</Button>
      {list.isPending && <Skeleton lines={3} />}
      {list.isError && <ErrorState title="The conversations could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      <ul className={css.conversationItems}>
        {list.data?.conversations.map(({ id, title, turns, updatedAt, running }) => (
          <li key={id} className={css.conversation} data-selected={id === selected}>
            <button type="button" className={css.open} aria-current={id === selected ? 'true' : undefined} onClick={() => onSelect(id)}>
              <span className={css.conversationTitle}>{foreignName(title) || 'Untitled'}</span>
              <span className={css.muted}>
                {running === undefined ? `${counted(turns, 'turn')}, ${agoText(updatedAt, Date.now())}` : 'answering …'}
              </span>
            </button>
            <IconButton label={`Remove the conversation ${foreignName(title)}`} isSmall onClick={() => drop(id)}>
              ✕
            </IconButton>
          </li>
        ))}
      </ul>
    </nav>
  )
}
