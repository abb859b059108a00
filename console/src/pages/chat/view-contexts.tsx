/** What views of tools tell the model with your next message. You see it before, and can take it back. */

import { type ReactNode, useCallback, useEffect, useRef } from 'react'
import type { ViewContext } from '../../../../src/host/index.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import { foreignName, foreignText } from '../../state/foreign-text.ts'
import { isQuiet } from '../../state/question-words.ts'
import css from './page.module.css'

export function ViewContexts({
  conversation,
  contexts,
  onRemoved,
}: {
  conversation: string
  contexts: readonly ViewContext[]
  onRemoved(): void
}): ReactNode {
  const remove = useAction('DELETE /api/conversations/:id/contexts/:context')
  if (contexts.length === 0) return null
  return (
    <section className={css.contexts} aria-label="Data of views">
      {contexts.map(({ id, source, text }) => (
        <div key={id} className={css.viewData}>
          <div className={css.viewDataHead}>
            <Badge tone="waiting">From a view</Badge>
            <span>
              <code>{foreignName(source)}</code> adds this to your next message, as data:
            </span>
            <Button
              isSmall
              isBusy={remove.isPending}
              onClick={() => remove.mutate({ params: { id: conversation, context: id } }, { onSettled: onRemoved })}
            >
              Remove
            </Button>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable with the keyboard */}
          <pre className={css.viewText} tabIndex={0}>
            {foreignText(text)}
          </pre>
        </div>
      ))}
      {remove.isError && <ErrorState title="It was not removed" error={remove.error} />}
    </section>
  )
}

/** A function that tells which texts you had time to see. A view may change its text at the moment when you send. */
export function useSeenContexts(contexts: readonly ViewContext[]): () => string[] {
  const shownAt = useRef(new Map<string, number>())
  useEffect(() => {
    const before = shownAt.current
    shownAt.current = new Map(contexts.map(({ id }) => [id, before.get(id) ?? Date.now()]))
  }, [contexts])
  return useCallback(() => [...shownAt.current].flatMap(([id, at]) => (isQuiet(at, Date.now()) ? [] : [id])), [])
}
