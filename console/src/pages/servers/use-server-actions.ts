/** What a person can do with a server. Questions that it causes open as a dialog. */

import { useState } from 'react'
import type { ServerView } from '../../../../src/console/api.ts'
import type { ApiError } from '../../api/error.ts'
import { useAction, useConsoleState, useOperation } from '../../hooks/use-console.tsx'
import { useShowWaiting } from '../../hooks/use-show-waiting.ts'

export type ServerAction = 'enable' | 'enableChosen' | 'disable' | 'restart' | 'approve' | 'login' | 'logout'

export interface ServerActions {
  enable(): void
  /** Starts it, and lets the person choose what is enabled. */
  enableChosen(): void
  /** Starts it again after its settings changed, if it ran before. The host starts it itself only if that asks no question. */
  resume(before: Pick<ServerView, 'health'>): void
  disable(): void
  restart(): void
  approve(): void
  login(): void
  logout(): void
  remove(): void
  /** One of them goes on, so that none other can begin. */
  isBusy: boolean
  /** For the button of an action: a spinner while it goes on, and nothing to press while another does. */
  busy(action: ServerAction): { isBusy: boolean; disabled: boolean }
  error: ApiError | { code?: string; message: string } | undefined
}

export function useServerActions(id: string): ServerActions {
  const operation = useOperation()
  const disable = useAction('POST /api/servers/:id/disable')
  const remove = useAction('DELETE /api/servers/:id')
  const showWaiting = useShowWaiting()
  const request = { params: { id } }
  const isAsked = useConsoleState(({ questions }) =>
    questions.some(({ server, action, end }) => server === id && action === 'server.approve' && end === undefined),
  )
  const [last, setLast] = useState<ServerAction>()
  // While the person is asked about its offering, the server itself is ready.
  const isBusy = (operation.isRunning && !isAsked) || disable.isPending || remove.isPending
  const enable = (choose?: true): void => {
    setLast(choose ? 'enableChosen' : 'enable')
    void operation.start('POST /api/servers/:id/enable', { ...request, body: choose ? { choose } : {} })
  }
  const run = (action: 'restart' | 'login' | 'logout' | 'approve'): void => {
    setLast(action)
    void operation.start(`POST /api/servers/:id/${action}`, request)
  }
  return {
    enable: () => enable(),
    enableChosen: () => enable(true),
    resume: ({ health: { state } }) => {
      if (state === 'ready' || state === 'connecting') enable()
    },
    disable: () => {
      setLast('disable')
      disable.mutate(request)
    },
    restart: () => run('restart'),
    // The host asks about changes itself. Then the question waits in the tray already.
    approve: () => {
      if (isAsked) showWaiting()
      else run('approve')
    },
    login: () => run('login'),
    logout: () => run('logout'),
    remove: () => remove.mutate(request),
    isBusy,
    busy: (action) => ({ isBusy: isBusy && action === last, disabled: isBusy && action !== last }),
    error: inPage(operation.startError ?? operation.operation?.error ?? disable.error ?? remove.error ?? undefined),
  }
}

/** The host names the command of the terminal. Here a button does the same. */
const inPage = (error: ServerActions['error']): ServerActions['error'] => {
  const [text, ...command] = error?.message.split('. To be asked again: portico ') ?? []
  return error && text !== undefined && command.length > 0 ? { ...error, message: `${text}. To be asked again, press Enable` } : error
}
