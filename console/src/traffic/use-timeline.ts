/** The messages that the page knows: fetched once, then kept up to date by events. */

import { useCallback, useEffect, useState } from 'react'
import type { MessageView } from '../../../src/console/api.ts'
import type { ApiError } from '../api/error.ts'
import { useConsole, useEvents } from '../hooks/use-console.tsx'
import { addMessages, MAX_MESSAGES } from '../state/timeline.ts'

/** Messages of one request. */
const PAGE = 1_000

export interface Timeline {
  messages: readonly MessageView[]
  isLoading: boolean
  error: ApiError | undefined
  /** Messages that the console itself no longer has. */
  forgotten: number
  reload(): void
  clear(): Promise<void>
}

/** @param server undefined for all servers */
export function useTimeline(server?: string): Timeline {
  const { api } = useConsole()
  const [messages, setMessages] = useState<readonly MessageView[]>([])
  const [isLoading, setLoading] = useState(true)
  const [error, setError] = useState<ApiError>()
  const [forgotten, setForgotten] = useState(0)
  const [attempt, setAttempt] = useState(0)
  const reload = useCallback(() => setAttempt((count) => count + 1), [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt fetches again
  useEffect(() => {
    const ended = new AbortController()
    const { signal } = ended
    const fetchAll = async (): Promise<void> => {
      let before: number | undefined
      let count = 0
      do {
        const page = await api.call('GET /api/timeline', {
          query: { limit: PAGE, ...(before !== undefined && { before }), ...(server !== undefined && { server }) },
          signal,
        })
        setMessages((known) => addMessages(known, page.messages))
        setForgotten(page.forgotten)
        setLoading(false)
        count += page.messages.length
        before = page.next
      } while (before !== undefined && count < MAX_MESSAGES)
    }
    setError(undefined)
    fetchAll().catch((reason) => {
      if (signal.aborted) return
      setError(reason as ApiError)
      setLoading(false)
    })
    return () => ended.abort()
  }, [api, attempt, server])

  useEvents((event) => {
    if (event.name === 'hello' && !event.data.isComplete) reload()
    if (event.name !== 'messages') return
    const { messages: added, forgotten: missed = 0 } = event.data
    setMessages((known) => addMessages(known, server === undefined ? added : added.filter((each) => each.server === server)))
    if (missed > 0) reload()
  })

  const clear = useCallback(async () => {
    await api.call('DELETE /api/timeline')
    setMessages([])
    setForgotten(0)
  }, [api])
  return { messages, isLoading, error, forgotten, reload, clear }
}
