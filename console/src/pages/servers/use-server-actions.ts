/** What a person can do with a server. Questions that it causes open as a dialog. */

import type { ServerView } from '../../../../src/console/api.ts'
import type { ApiError } from '../../api/error.ts'
import { useAction, useConsoleState, useOperation } from '../../hooks/use-console.tsx'
import { useShowWaiting } from '../../hooks/use-show-waiting.ts'

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
    resume: ({ health: { state } }) => {
      if (state === 'ready' || state === 'connecting') void operation.start('POST /api/servers/:id/enable', { ...request, body: {} })
    },
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
    error: inPage(operation.startError ?? operation.operation?.error ?? disable.error ?? remove.error ?? undefined),
  }
}

/** The host names the command of the terminal. Here a button does the same. */
const inPage = (error: ServerActions['error']): ServerActions['error'] => {
  const [text, ...command] = error?.message.split('. To be asked again: portico ') ?? []
  return error && text !== undefined && command.length > 0 ? { ...error, message: `${text}. To be asked again, press Enable` } : error
}
