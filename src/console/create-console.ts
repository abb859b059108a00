/** Creates a console: the HTTP server, its routes, and the events of the host. */

import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import { Conversation, describeQuestion, type Host, type HostEvent } from '../host/index.ts'
import { Codes } from './access/codes.ts'
import { originsOf } from './access/guard.ts'
import { Sessions } from './access/sessions.ts'
import { AnswerTimes } from './answer-times.ts'
import type { LogEntry } from './api.ts'
import { OpenApps } from './apps/open-apps.ts'
import { startShellServer } from './apps/shell-server.ts'
import { type ConsoleAsker, consoleAsker } from './asker.ts'
import { Conversations } from './chat/conversations.ts'
import { ModelTurns } from './chat/model-turns.ts'
import { ChatModels } from './chat/models.ts'
import { checkOptions, type Members } from './check-options.ts'
import { EventLog } from './event-log.ts'
import { type ConsoleFeed, consoleFeed } from './feed.ts'
import { type ConsoleLimits, consoleLimits } from './limits.ts'
import { Operations } from './operations.ts'
import { storedPreferences } from './preferences.ts'
import { consoleRoutes } from './routes/index.ts'
import { savedCalls } from './saved-calls.ts'
import type { ConsoleServices, ImportPlaces, TourOptions } from './services.ts'
import { Subscriptions } from './subscriptions.ts'
import { MessageAnnouncer } from './timeline/announcer.ts'
import { Recordings } from './timeline/recordings.ts'
import { healthView } from './views.ts'
import { builtPage } from './web/built-page.ts'
import { EventStreams } from './web/event-streams.ts'
import { startServer } from './web/server.ts'
import { staticFiles } from './web/static-files.ts'
import { WrittenServers } from './written-servers.ts'

/** Options for `createConsole`. */
export interface ConsoleOptions {
  /** The asker of the host, or one of several. Default: none; then no question is shown. */
  asker?: ConsoleAsker
  /** The receiver of the host's events. Default: none; then there are no events of servers, and no logs. */
  feed?: ConsoleFeed
  /** Where to look for the servers of other clients. Default: the home directory of the user. */
  imports?: ImportPlaces
  /** The parts of the tour that a console cannot make itself. Default: the tour has no server that turns hostile. */
  tour?: TourOptions
  /** The folder with the page. Default: the page of this package; if it was not built, a page that says how to build it. */
  assets?: string
  /** The port on 127.0.0.1. Of several the first free one is used. 0: any free one. Default: 0. */
  port?: number | readonly number[]
  /** Limits that differ from the defaults in docs/console-api.md. */
  limits?: Partial<ConsoleLimits>
  /** The clock for expiry and heartbeats. Default: the system clock. */
  clock?: Clock
  /** Called with unexpected errors, which pages do not see. Default: they are written to standard error. */
  onError?(error: unknown): void
}

/** A running console. `createConsole` creates it. */
export interface Console {
  /** The address of the page, without a code: `http://127.0.0.1:40711`. */
  readonly origin: string
  readonly port: number
  /** The address of the page with a new one-time code. Open it, or print it for the person; it works once. */
  link(): string
  /** Ends all sessions and operations, and closes the port. The host stays open. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const MEMBERS: Members<ConsoleOptions> = { asker: 1, feed: 1, imports: 1, tour: 1, assets: 1, port: 1, limits: 1, clock: 1, onError: 1 }

/**
 * Serves a console for a host on 127.0.0.1. Resolves when it accepts requests.
 *
 * @example
 * const [asker, feed] = [consoleAsker(), consoleFeed()]
 * const host = await createHost({ config: 'servers.json', ask: asker, onEvent: feed.onEvent, onTraffic: feed.onTraffic })
 * const { link } = await createConsole(host, { asker, feed })
 * console.log(`Open ${link()}`)
 */
export async function createConsole(host: Host, options: ConsoleOptions = {}): Promise<Console> {
  checkOptions('createConsole', options, MEMBERS)
  const { asker = consoleAsker(), feed = consoleFeed(), clock = systemClock, onError = console.error } = options
  const limits = consoleLimits(options.limits)
  const events = new EventLog(limits)
  const sessions = new Sessions(limits, clock)
  const modelTurns = new ModelTurns(events, limits)
  const ending: (() => Promise<void>)[] = []
  const announcer = new MessageAnnouncer(events, clock)
  const apps = new OpenApps({ host, events, maxApps: limits.maxApps, port: () => shells.port })
  const shells = await startShellServer({
    consoles: () => originsOf(server.port),
    viewOf: (key) => apps.viewOf(key),
    maxConnections: limits.maxConnections,
  })
  const operations = new Operations({ limits, events, onError })
  const answerTimes = new AnswerTimes(operations)
  const written = new WrittenServers({ host, onWarning: (about, text) => events.publish('warning', { server: about, text }), onError })
  const services: ConsoleServices = {
    host,
    asker,
    feed,
    events,
    operations,
    conversations: new Conversations(host, limits),
    byHand: new Conversation(),
    models: new ChatModels(host, modelTurns),
    modelTurns,
    subscriptions: new Subscriptions(limits),
    apps,
    written,
    recordings: new Recordings({
      folder: join(host.folder, 'recordings'),
      limits,
      onChange: (ids) => events.publish('recordings', { ids }),
      onError,
    }),
    savedCalls: savedCalls(host.folder, limits),
    preferences: storedPreferences(host.folder),
    tour: { ...options.tour, onClose: (each) => ending.push(each) },
    sessions,
    codes: new Codes(limits, clock),
    limits,
    imports: options.imports ?? {},
    clock,
    port: () => server.port,
    onError,
  }
  const server = await startServer({
    ports: [options.port ?? 0].flat(),
    limits,
    routes: consoleRoutes(services),
    sessions,
    streams: new EventStreams({ limits, events, clock }),
    files: await staticFiles(options.assets ?? builtPage()),
    viewPort: shells.port,
    onError,
  }).catch(async (error: unknown) => {
    await shells.close()
    throw error
  })
  const unlisten = [
    feed.listen((event, entry) => {
      publishHostEvent(events, clock, event, entry)
      // Its files are known from its first start.
      if (event.kind === 'health' || event.kind === 'servers') void written.sync()
    }),
    feed.listenToTraffic((traffic, row) => {
      if (row) announcer.add(row)
      services.recordings.take(traffic)
    }),
    asker.listen({
      onAsked: (question) => {
        const { id, action, server: about } = question
        answerTimes.onAsked(question)
        const title = describeQuestion(question)[0]?.text ?? ''
        events.publish('question', { id, action, server: about.id, title }, { id, action })
      },
      onEnded: (end) => {
        answerTimes.onEnded(end)
        events.publish('question-end', end)
      },
    }),
  ]
  await written.sync()
  const origin = `http://127.0.0.1:${server.port}`
  const close = async (): Promise<void> => {
    for (const each of unlisten) each()
    await written.close()
    sessions.endAll()
    apps.closeAll()
    await server.close()
    await shells.close()
    // An operation may still open a subscription.
    await services.operations.close()
    services.subscriptions.close()
    announcer.close()
    await services.recordings.close()
    await host.endConversation(services.byHand)
    await Promise.all(ending.map((each) => each()))
  }
  return {
    origin,
    port: server.port,
    // A fragment is not sent to any server, and stays out of logs.
    link: () => `${origin}/#code=${services.codes.issue('link')}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function publishHostEvent(events: EventLog, clock: Clock, event: HostEvent, entry: LogEntry | undefined): void {
  switch (event.kind) {
    case 'servers':
      return events.publish('servers', { ids: [...event.ids] })
    case 'health':
      return events.publish('health', { server: event.server, health: healthView(event.health, clock) })
    case 'review': {
      const { server, items, isFirst } = event.review
      return events.publish('review', { server, items: items.length, isFirst })
    }
    case 'approved':
      return events.publish('review', { server: event.server, items: event.waiting, isFirst: false })
    case 'catalog':
      return events.publish('catalog', { kinds: [...event.kinds] })
    case 'log':
      return entry && events.publish('log', { server: event.server, entry })
    case 'warning':
      return events.publish('warning', { text: event.text, ...(event.server !== undefined && { server: event.server }) })
    case 'task': {
      const { id, server, tool, status } = event
      return events.publish('task', { id, server, tool, status })
    }
    case 'enabled': {
      const { kind: _, ...offering } = event
      return events.publish('enabled', offering)
    }
    default:
      return events.publish('host', event as { kind: string })
  }
}
