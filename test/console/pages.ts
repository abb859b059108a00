/** Consoles that end with their test, and pages that use them over HTTP without any code of Portico. */

import { onTestFinished } from 'vitest'
import { type Console, type ConsoleOptions, consoleAsker, consoleFeed, createConsole } from '../../src/console/index.ts'
import { deployServer, notesServer } from '../../src/demo/index.ts'
import { createHost, type HostOptions, type ServerSpec } from '../../src/host/index.ts'
import { allow } from '../../src/host/policy-tools/index.ts'
import { temporaryFolders } from '../support/folders.ts'
import { type EventReader, type HttpAnswer, http, httpStream } from '../support/http-requests.ts'

/** No server needs approval, so that tests begin with their subject. */
export const APPROVED = [allow('approve-all', { action: 'server.approve' })]

export interface Opened {
  console: Console
  asker: ReturnType<typeof consoleAsker>
  feed: ReturnType<typeof consoleFeed>
  host: Awaited<ReturnType<typeof createHost>>
  /** Errors that pages do not see. */
  errors: unknown[]
  folder: string
}

/** A console over a real host with the sample servers. */
export function consoles() {
  const folders = temporaryFolders()
  return async (options: { host?: HostOptions; console?: ConsoleOptions } = {}): Promise<Opened> => {
    const folder = folders()
    const [asker, feed] = [consoleAsker(), consoleFeed()]
    const notes = await notesServer({ folder: folders() })
    const deploy = deployServer({ stepMs: 5 })
    const policy = { session: APPROVED }
    const host = await createHost({
      folder,
      keychain: false,
      servers: { notes: trusted(notes, ['private:notes']), deploy: trusted(deploy) },
      policy,
      ask: asker,
      onEvent: feed.onEvent,
      onTraffic: feed.onTraffic,
      ...options.host,
    })
    const errors: unknown[] = []
    const console = await createConsole(host, {
      asker,
      feed,
      onError: (error) => errors.push(error),
      ...options.console,
    })
    onTestFinished(async () => {
      await console.close()
      await host.close()
      await Promise.all([notes.close(), deploy.close()])
    })
    if (!options.host) await host.settled()
    return { console, asker, feed, host, errors, folder }
  }
}

const trusted = (service: Service, labels: readonly string[] = []): Omit<ServerSpec, 'id'> => ({
  transport: { type: 'memory', service },
  tier: 'trusted',
  provenance: [],
  labels,
})

type Service = Extract<ServerSpec['transport'], { type: 'memory' }>['service']

export const codeOf = (link: string): string => new URL(link).hash.slice('#code='.length)

export interface Call {
  headers?: Record<string, string>
  body?: unknown
}

/** A window of the console: a cookie and a token. */
export class Page {
  readonly origin: string
  cookie = ''
  token = ''

  constructor(origin: string) {
    this.origin = origin
  }

  static async open({ origin, link }: Console): Promise<Page> {
    const page = new Page(origin)
    const answer = await page.exchange(codeOf(link()))
    if (answer.status !== 201) throw new Error(`No session: ${answer.text}`)
    return page
  }

  async exchange(code: string): Promise<HttpAnswer> {
    const answer = await this.send('POST /api/session', { body: { code } })
    if (answer.status === 201) {
      this.cookie = String(answer.headers['set-cookie']).split(';')[0] as string
      this.token = (answer.message as unknown as { token: string }).token
    }
    return answer
  }

  /** @param route a method and a path: `GET /api/servers` */
  send(route: string, { headers = {}, body }: Call = {}): Promise<HttpAnswer> {
    const [method = '', path = ''] = route.split(' ')
    return http(this.origin + path, { method, headers: { ...this.#secrets(), ...headers }, body })
  }

  /** The answer to a request that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async get(route: string, body?: unknown): Promise<any> {
    const answer = await this.send(route, { body })
    if (answer.status >= 300) throw new Error(`${route}: ${answer.status} ${answer.text}`)
    return answer.message
  }

  /** The error of a request that must fail, with its status. */
  async fails(route: string, call: Call = {}): Promise<{ status: number; code: string; message: string; routes?: string[] }> {
    const answer = await this.send(route, call)
    if (answer.status < 300) throw new Error(`${route} did not fail: ${answer.status} ${answer.text}`)
    const { error } = answer.message as unknown as { error: { code: string; message: string; routes?: string[] } }
    return { status: answer.status, ...error }
  }

  events(lastId?: string): Promise<EventReader> {
    const headers = { ...this.#secrets(), ...(lastId !== undefined && { 'last-event-id': lastId }) }
    return httpStream(`${this.origin}/api/events`, { method: 'GET', headers })
  }

  /** Starts an operation and fetches it when it has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  async run(route: string, body?: unknown): Promise<any> {
    const { operation } = await this.get(route, body)
    return this.ended(operation.id)
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  async ended(id: string): Promise<any> {
    for (;;) {
      const { operation } = await this.get(`GET /api/operations/${id}`)
      if (operation.state !== 'running') return operation
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  #secrets(): Record<string, string> {
    return { ...(this.cookie !== '' && { cookie: this.cookie }), ...(this.token !== '' && { 'portico-token': this.token }) }
  }
}

/** Reads events until one fits. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
export async function event(reader: EventReader, name: string, fits: (data: any) => boolean = () => true): Promise<any> {
  for (;;) {
    const next = await reader.next()
    if (!next) throw new Error(`The stream ended before an event ${name}`)
    if (next.event !== name) continue
    const data = JSON.parse(next.data ?? '{}')
    if (fits(data)) return { ...data, eventId: next.id }
  }
}
