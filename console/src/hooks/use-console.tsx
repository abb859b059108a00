/** What pages use to read and change things: `useConsole`, `useRoute`, `useAction`, `useOperation`. */

import { type UseMutationResult, type UseQueryResult, useMutation, useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { OperationView, ResultOf, RouteName } from '../../../src/console/api.ts'
import type { RequestOf } from '../api/client.ts'
import type { ApiError } from '../api/error.ts'
import type { ConsoleState, Notice } from '../state/console-state.ts'
import type { ConsoleEvent } from '../state/event.ts'
import { withNotice, withOperation, withOwnOperation } from '../state/reduce.ts'
import type { PageConsole } from './console.ts'
import { fetchAgain } from './fetch-again.ts'

const Context = createContext<PageConsole | undefined>(undefined)

export function ConsoleProvider({ console, children }: { console: PageConsole; children: ReactNode }): ReactNode {
  return <Context value={console}>{children}</Context>
}

export function useConsole(): PageConsole {
  const found = useContext(Context)
  if (!found) throw new Error('useConsole: expected a ConsoleProvider around this component, got none')
  return found
}

/** A part of the state. `select` must return the same value for the same state: a member, not a new object. */
export function useConsoleState<Part>(select: (state: ConsoleState) => Part): Part {
  const { store } = useConsole()
  return useSyncExternalStore(store.subscribe, () => select(store.get()))
}

type GetRoute = Extract<RouteName, `GET ${string}`>

/** Fetches a route and keeps it: events fetch it again when it is stale. */
export function useRoute<Name extends GetRoute>(
  name: Name,
  request?: Omit<RequestOf<Name>, 'body' | 'signal'>,
  { isEnabled = true }: { isEnabled?: boolean } = {},
): UseQueryResult<ResultOf<Name>, ApiError> {
  const { api } = useConsole()
  return useQuery<ResultOf<Name>, ApiError>({
    queryKey: [name, request ?? {}],
    queryFn: ({ signal }) => api.call(name, { ...request, signal } as RequestOf<Name>),
    enabled: isEnabled,
  })
}

/** Changes something. `stale` names the routes to fetch again afterwards; events already cover most of them. */
export function useAction<Name extends Exclude<RouteName, GetRoute>>(
  name: Name,
  { stale = [] }: { stale?: readonly RouteName[] } = {},
): UseMutationResult<ResultOf<Name>, ApiError, RequestOf<Name>> {
  const { api, queries } = useConsole()
  return useMutation<ResultOf<Name>, ApiError, RequestOf<Name>>({
    mutationFn: (request) => api.call(name, request),
    onSuccess: () => Promise.all(stale.map((route) => fetchAgain(queries, route))),
  })
}

/** Routes that start an operation. */
export type OperationRoute = {
  [Name in RouteName]: ResultOf<Name> extends { operation: OperationView } ? (Name extends `POST ${string}` ? Name : never) : never
}[RouteName]

export interface RunningOperation {
  /** Undefined before the first start. With its result once it is done. */
  operation: OperationView | undefined
  isRunning: boolean
  /** The start itself failed: the request was refused. */
  startError: ApiError | undefined
  start<Name extends OperationRoute>(route: Name, request: RequestOf<Name>): Promise<OperationView | undefined>
  cancel(): void
  /** Forgets the operation. It goes on if it runs. */
  reset(): void
}

/**
 * Starts an operation and follows it to its end. Questions that it causes count as caused by the person.
 * @param initial an operation that was started before: it is followed again
 */
export function useOperation(initial?: string): RunningOperation {
  const { api, store } = useConsole()
  const [id, setId] = useState<string | undefined>(initial)
  const [startError, setStartError] = useState<ApiError>()
  const [whole, setWhole] = useState<OperationView>()
  const seen = useConsoleState((state) => (id === undefined ? undefined : state.operations.find((each) => each.id === id)))
  const isMissingResult = seen?.state === 'done' && seen.result === undefined
  useEffect(() => {
    if (!isMissingResult || id === undefined) return
    // Large results are not in events.
    api.call('GET /api/operations/:id', { params: { id } }).then(({ operation }) => setWhole(operation), setStartError)
  }, [api, id, isMissingResult])
  const start = useCallback(
    async <Name extends OperationRoute>(route: Name, request: RequestOf<Name>) => {
      setStartError(undefined)
      setWhole(undefined)
      setId(undefined)
      try {
        const { operation } = (await api.call(route, request)) as { operation: OperationView }
        store.update((state) => withOwnOperation(withOperation(state, operation), operation.id))
        setId(operation.id)
        return operation
      } catch (error) {
        setStartError(error as ApiError)
        return undefined
      }
    },
    [api, store],
  )
  const cancel = useCallback(() => {
    if (id !== undefined) api.call('DELETE /api/operations/:id', { params: { id } }).catch(() => {})
  }, [api, id])
  const reset = useCallback(() => setId(undefined), [])
  const operation = whole && whole.id === id ? whole : seen
  return { operation, isRunning: operation?.state === 'running', startError, start, cancel, reset }
}

/** Calls `listener` with every event while the component is shown. */
export function useEvents(listener: (event: ConsoleEvent) => void): void {
  const { listen } = useConsole()
  const latest = useRef(listener)
  useEffect(() => {
    latest.current = listener
  })
  useEffect(() => listen((event) => latest.current(event)), [listen])
}

/** Shows a short message at the edge of the page. */
export function useNotify(): (notice: Omit<Notice, 'id'>) => void {
  const { store } = useConsole()
  return useCallback((notice) => store.update((state) => withNotice(state, notice)), [store])
}
