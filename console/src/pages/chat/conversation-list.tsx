/** The stored conversations, newest first. */

import type { ReactNode } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { Fold } from '../../components/fold.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { useAction, useRoute } from '../../hooks/use-console.tsx'
import { useIsWide } from '../../hooks/use-is-wide.ts'
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
    <nav className={css.conversations} aria-label="Conversations">
      <Button onClick={() => onSelect(undefined)}>New conversation</Button>
      {list.isPending && <Skeleton lines={3} />}
      {list.isError && <ErrorState title="The conversations could not be fetched" error={list.error} onRetry={() => void list.refetch()} />}
      <Earlier count={list.data?.conversations.length ?? 0}>
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
      </Earlier>
    </nav>
  )
}

/** On a phone the messages need the room. */
function Earlier({ count, children }: { count: number; children: ReactNode }): ReactNode {
  const isWide = useIsWide()
  if (isWide) return children
  return count > 0 && <Fold label={`Earlier conversations (${count})`}>{children}</Fold>
}
