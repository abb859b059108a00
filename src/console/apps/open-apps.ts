/** The views that pages show at the moment. Each has its bridge here; a page only passes messages between it and the frame. */

import { randomBytes, randomUUID } from 'node:crypto'
import type { Conversation, Host, HostApp } from '../../host/index.ts'
import type { AppMessage, AppView, NewApp } from '../api-apps.ts'
import { notFound } from '../errors.ts'
import type { EventLog } from '../event-log.ts'
import { BY_PERSON } from '../services.ts'

interface OpenApp {
  app: HostApp
  /** A random part of the address of its frame. Other pages cannot guess it. */
  key: string
  /** Messages to the view that the page has not fetched. */
  waiting: AppMessage[]
}

/** Messages that wait for a page. A view whose page fetches none has no page. */
const MAX_WAITING = 1_000
/** A view that is taller scrolls. */
const MAX_HEIGHT = 800

export interface OpenAppsOptions {
  host: Host
  events: EventLog
  /** Of a further one the oldest is closed. */
  maxApps: number
  /** The port of the listener for views. */
  port(): number
}

export class OpenApps {
  readonly #options: OpenAppsOptions
  readonly #open = new Map<string, OpenApp>()

  constructor(options: OpenAppsOptions) {
    this.#options = options
  }

  /** @param conversation undefined if the call belongs to no chat */
  async open(given: Omit<NewApp, 'conversation'>, conversation: Conversation, isChat: boolean, signal: AbortSignal): Promise<AppView> {
    const { host, events, maxApps, port } = this.#options
    const { tool, args = {}, result, allowsAddresses = false, theme } = given
    const id = randomUUID()
    const waiting: AppMessage[] = []
    let seq = 0
    const app = await host.openApp(tool, {
      ...BY_PERSON,
      conversation,
      signal,
      args,
      ...(result && { result }),
      allowsAddresses,
      context: {
        ...(theme && { theme }),
        platform: 'web',
        userAgent: 'portico',
        displayMode: 'inline',
        availableDisplayModes: ['inline'],
        containerDimensions: { maxHeight: MAX_HEIGHT },
      },
      send: (message) => {
        waiting.push({ seq: ++seq, message })
        if (waiting.length > MAX_WAITING) return this.#open.get(id)?.app.bridge.end('Its page does not take its messages')
        events.publish('app', { id, seq })
      },
      ...(isChat && {
        onMessage: (content) => {
          const said = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
          events.publish('app', { id, said })
        },
        onContext: () => events.publish('app', { id, hasContext: true }),
      }),
      onSize: (size) => events.publish('app', { id, size }),
      onCloseWanted: () => events.publish('app', { id, wantsToClose: true }),
      onEnd: (end) => {
        this.#open.delete(id)
        events.publish('app', { id, end })
      },
    })
    const [oldest] = this.#open
    if (oldest && this.#open.size >= maxApps) oldest[1].app.bridge.end('Too many views are open')
    const key = randomBytes(24).toString('base64url')
    this.#open.set(id, { app, key, waiting })
    const { html, domains, refused, prefersBorder = true } = app.view
    return {
      id,
      server: app.server,
      tool: app.tool,
      frame: { port: port(), path: `/app/${key}` },
      html,
      addresses: [...new Set(Object.values(domains).flat())],
      framed: domains.frameDomains,
      refused,
      allowsAddresses,
      prefersBorder,
    }
  }

  /** @throws ApiError 404 */
  receive(id: string, messages: readonly unknown[]): void {
    const { bridge } = this.#find(id).app
    for (const message of messages) bridge.receive(message)
  }

  /** @throws ApiError 404 */
  messages(id: string, after: number): readonly AppMessage[] {
    const { waiting } = this.#find(id)
    const next = waiting.findIndex(({ seq }) => seq > after)
    waiting.splice(0, next < 0 ? waiting.length : next)
    return [...waiting]
  }

  /** @throws ApiError 404 */
  change(id: string, context: { theme: 'light' | 'dark' }): void {
    this.#find(id).app.bridge.changeContext(context)
  }

  /** The page still passes messages on until it resolves. @throws ApiError 404 */
  close(id: string): Promise<void> {
    return this.#find(id).app.bridge.teardown('The view was closed')
  }

  viewOf(wanted: string): { html: string; policy: string } | undefined {
    const app = [...this.#open.values()].find(({ key }) => key === wanted)?.app
    return app && { html: app.view.html, policy: app.policy }
  }

  closeAll(): void {
    for (const { app } of this.#open.values()) app.bridge.end('The console was closed')
  }

  #find(id: string): OpenApp {
    const found = this.#open.get(id)
    if (!found) throw notFound(`No view has the id ${JSON.stringify(id)}. It was closed`)
    return found
  }
}
