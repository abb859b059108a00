/** What a person can do with a server. Questions that it causes open as a dialog. */

import type { ApiError } from '../../api/error.ts'
import { useAction, useConsoleState, useOperation } from '../../hooks/use-console.tsx'
import { useShowWaiting } from '../../hooks/use-show-waiting.ts'

export interface ServerActions {
  enable(): void
  /** Starts it, and lets the person choose what is enabled. */
  enableChosen(): void
  disable(): void
  restart(): void
  approve(): void
  login(): void
  logout(): void
  remove(): void
  isBusy: boolean
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
  return {
    enable: () => void operation.start('POST /api/servers/:id/enable', { ...request, body: {} }),
    enableChosen: () => void operation.start('POST /api/servers/:id/enable', { ...request, body: { choose: true } }),
    disable: () => disable.mutate(request),
    restart: () => void operation.start('POST /api/servers/:id/restart', request),
    // The host asks about changes itself. Then the question waits in the tray already.
    approve: () => {
      if (isAsked) showWaiting()
      else void operation.start('POST /api/servers/:id/approve', request)
    },
    login: () => void operation.start('POST /api/servers/:id/login', request),
    logout: () => void operation.start('POST /api/servers/:id/logout', request),
    remove: () => remove.mutate(request),
    // While the person is asked about its offering, the server itself is ready.
    isBusy: (operation.isRunning && !isAsked) || disable.isPending || remove.isPending,
    error: operation.startError ?? operation.operation?.error ?? disable.error ?? remove.error ?? undefined,
  }
}
