/** The view of a tool in its frame: opens it, and passes messages between the frame and the host, which decides about everything. */

import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Bucket } from '../../../src/base/rate.ts'
import type { AppView, NewApp } from '../../../src/console/api.ts'
import type { ApiError } from '../api/error.ts'
import { dismissed, type FrameMessage, frameOrigin, isInside, messageOf, PAST_FRAME } from '../state/app-messages.ts'
import { oneAtATime } from '../state/one-at-a-time.ts'
import { useConsole } from './use-console.tsx'
import { usePreferences } from './use-preferences.ts'

export interface ShownApp {
  app: AppView | undefined
  /** The address of the frame. */
  address: string
  /** The height that the view asks for, in pixels. */
  height: number
  error: ApiError | undefined
  isOpening: boolean
  /** Why it was closed by the host. */
  ended: string | undefined
  frame: RefObject<HTMLIFrameElement | null>
  open(allowsAddresses: boolean): void
  close(): void
}

const START_HEIGHT = 240
/** Messages in one request. */
const MAX_MESSAGES = 200

/** @param onSay sends a message of the view to the chat, after the person agreed to it */
export function useApp(given: Omit<NewApp, 'allowsAddresses'>, onSay?: (text: string) => void): ShownApp {
  const { api, listen } = useConsole()
  const frame = useRef<HTMLIFrameElement>(null)
  const [app, setApp] = useState<AppView>()
  const [height, setHeight] = useState(START_HEIGHT)
  const [error, setError] = useState<ApiError>()
  const [isOpening, setOpening] = useState(false)
  const [ended, setEnded] = useState<string>()
  const say = useRef(onSay)
  say.current = onSay
  const origin = app ? frameOrigin(location.hostname, app.frame.port) : ''

  const open = useCallback(
    (allowsAddresses: boolean): void => {
      setOpening(true)
      setError(undefined)
      setEnded(undefined)
      api
        .call('POST /api/apps', { body: { ...given, allowsAddresses, theme: shownTheme() } })
        .then(({ app: opened }) => {
          setHeight(START_HEIGHT)
          setApp(opened)
        }, setError)
        .finally(() => setOpening(false))
    },
    [api, given],
  )

  const close = useCallback((): void => {
    if (!app) return
    const { id } = app
    // The view gets a moment to finish, in which its messages are still passed on.
    void api
      .call('DELETE /api/apps/:id', { params: { id } })
      .catch(() => {})
      .finally(() => setApp((shown) => (shown?.id === id ? undefined : shown)))
  }, [api, app])

  useEffect(() => {
    if (!app) return
    const { id, html } = app
    let isOver = false
    let last = 0
    const outbox: Record<string, unknown>[] = []
    const post = (message: object): void => frame.current?.contentWindow?.postMessage(message, origin)
    const end = (reason: string): void => {
      isOver = true
      setEnded(reason)
      setApp(undefined)
    }
    const send = oneAtATime(async () => {
      while (outbox.length > 0 && !isOver) {
        const messages = outbox.splice(0, MAX_MESSAGES)
        await api.call('POST /api/apps/:id/messages', { params: { id }, body: { messages } }).catch(() => {})
      }
    })
    const fetchMessages = oneAtATime(async () => {
      const { messages } = await api.call('GET /api/apps/:id/messages', { params: { id }, query: { after: last } })
      for (const { seq, message } of messages) {
        if (seq <= last) continue
        last = seq
        post(message)
      }
    })
    const stop = (reason: string): void => {
      void api.call('DELETE /api/apps/:id', { params: { id } }).catch(() => {})
      // At once: while its frame is there, it can go on sending.
      flushSync(() => end(reason))
    }
    const take = (message: FrameMessage): void => {
      if (message.kind === 'ready') post({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-resource-ready', params: { html } })
      else if (message.kind === 'stopped') stop(message.reason)
      else {
        outbox.push(message.message)
        void send()
      }
    }
    const pastFrame = new Bucket(PAST_FRAME, performance.now())
    const onMessage = (event: MessageEvent): void => {
      const around = frame.current?.contentWindow
      const source = event.source as Window | null
      if (isOver || !around || source === null) return
      // The view and frames inside of it can reach this page, too. Only the frame around it counts. The others are not even read.
      if (source !== around) {
        if (isInside(source, around) && pastFrame.take(performance.now()) > 0) stop('It sent too many messages past its frame')
        return
      }
      const message = event.origin === origin ? messageOf(event.data) : undefined
      if (message) take(message)
    }
    // Its questions end with it.
    const onLeave = (): void => void api.call('DELETE /api/apps/:id', { params: { id }, isLast: true }).catch(() => {})
    addEventListener('message', onMessage)
    addEventListener('pagehide', onLeave)
    const unlisten = listen((event) => {
      if (event.name !== 'app' || event.data.id !== id || isOver) return
      const { seq, size, said, wantsToClose, end: reason } = event.data
      if (seq !== undefined) void fetchMessages().catch(() => {})
      if (size?.height !== undefined) setHeight(size.height)
      if (said !== undefined) say.current?.(said)
      if (wantsToClose) void api.call('DELETE /api/apps/:id', { params: { id } }).catch(() => {})
      if (reason !== undefined) end(dismissed(reason))
    })
    return () => {
      removeEventListener('message', onMessage)
      removeEventListener('pagehide', onLeave)
      unlisten()
      if (!isOver) void api.call('DELETE /api/apps/:id', { params: { id } }).catch(() => {})
    }
  }, [app, api, listen, origin])

  const [{ theme }] = usePreferences()
  const id = app?.id
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme of the page follows the preference
  useEffect(() => {
    if (id !== undefined) void api.call('PATCH /api/apps/:id', { params: { id }, body: { theme: shownTheme() } }).catch(() => {})
  }, [api, id, theme])

  return { app, address: app ? `${origin}${app.frame.path}` : '', height, error, isOpening, ended, frame, open, close }
}

function shownTheme(): 'light' | 'dark' {
  const { theme } = document.documentElement.dataset
  if (theme === 'light' || theme === 'dark') return theme
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
}
