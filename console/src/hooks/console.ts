/** The console of this window: its API, its events, its state and the cache of fetched routes. Created once by main.tsx. */

import { QueryClient } from '@tanstack/react-query'
import { type Api, createApi } from '../api/client.ts'
import { ApiError } from '../api/error.ts'
import { followEvents } from '../api/events.ts'
import { answerOtherWindows } from '../api/other-windows.ts'
import type { Session } from '../api/session.ts'
import { type ConsoleState, EMPTY_STATE } from '../state/console-state.ts'
import type { ConsoleEvent } from '../state/event.ts'
import { oneAtATime } from '../state/one-at-a-time.ts'
import { reduce, withoutQuestion, withQuestions } from '../state/reduce.ts'
import { staleRoutes } from '../state/stale.ts'
import { createStore, type Store } from '../state/store.ts'
import { fetchAgain } from './fetch-again.ts'

export interface PageConsole {
  api: Api
  session: Session
  store: Store<ConsoleState>
  queries: QueryClient
  /** Called with every event. Returns the function that ends it. */
  listen(listener: (event: ConsoleEvent) => void): () => void
  /** Begins to follow events. Call it once there is a session. */
  start(): void
}

/** How long a question that ended elsewhere stays visible, with the reason. */
const ENDED_MS = 2_500

export function createPageConsole(session: Session): PageConsole {
  const store = createStore<ConsoleState>(EMPTY_STATE)
  const signOut = (): void => store.update((state) => ({ ...state, connection: 'signed-out' }))
  const api = createApi({ session, onSignedOut: signOut })
  const queries = new QueryClient({
    defaultOptions: {
      // Events say when something is stale, so no query is repeated on a timer.
      queries: { staleTime: Number.POSITIVE_INFINITY, retry: (count, error) => isOffline(error) && count < 3, refetchOnWindowFocus: false },
    },
  })
  const listeners = new Set<(event: ConsoleEvent) => void>()

  const fetchQuestions = oneAtATime(async () => {
    const { questions } = await api.call('GET /api/questions')
    store.update((state) => withQuestions(state, questions, Date.now()))
  })
  const onEvent = (event: ConsoleEvent): void => {
    store.update((state) => reduce(state, event, Date.now()))
    const stale = staleRoutes(event)
    for (const route of stale === 'all' ? ['all'] : stale) void fetchAgain(queries, route)
    // The list leaves out long and secret parts; the details of a card fetch the rest.
    if (event.name === 'hello' || event.name === 'question') ignoreErrors(fetchQuestions())
    if (event.name === 'question-end') {
      const { id } = event.data
      setTimeout(() => store.update((state) => withoutQuestion(state, id)), ENDED_MS)
    }
    for (const listener of [...listeners]) listener(event)
  }

  return {
    api,
    session,
    store,
    queries,
    listen: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    start: () => {
      store.update((state) => ({ ...state, connection: 'connecting' }))
      answerOtherWindows(api)
      const onStatus = (connection: ConsoleState['connection']): void => store.update((state) => ({ ...state, connection }))
      void followEvents({ session, onEvent, onStatus }, new AbortController().signal)
    },
  }
}

const isOffline = (error: unknown): boolean => error instanceof ApiError && error.code === 'ERR_OFFLINE'

const ignoreErrors = (work: Promise<unknown>): void => void work.catch(() => {})
