/** Passes on what this process tells clients outside of their requests: to the sessions of all replicas, and to the other replicas. */

import { randomId } from '../../../base/bytes.ts'
import { notificationJson } from '../../../jsonrpc/write.ts'
import type { Change } from '../../../protocol/interfaces/replaceable-services.ts'
import type { Announcement } from '../../../protocol/interfaces/service.ts'
import { Patience } from './patience.ts'
import { type Producer, producerOf } from './producer.ts'
import type { ReplicaServices } from './replica-services.ts'
import { logTopics, READY, readMember, resourceTopics } from './session-topics.ts'
import type { StandingEvent } from './standing-stream.ts'

/** Announcements of one kind that wait. More are dropped: a process that announces so many overloads its clients. */
const MAX_WAITING = 1000
/** Their characters. The notice of a finished task may carry its result. A single longer one may wait alone. */
const MAX_WAITING_CHARS = 16 * 1024 * 1024
/** Appends at once. */
const APPENDS = 64

export class Announcements {
  readonly #services: ReplicaServices
  readonly #waiting: { announcement: Announcement; chars: number }[] = []
  /** Changes without content that wait. The same change is not added again. */
  readonly #waitingChanges = new Set<string>()
  /** By kind, so that the notices about tasks of one client do not displace all others. */
  readonly #kinds = new Map<string, { count: number; chars: number }>()
  readonly #patience: Patience
  /** While the store does not answer, a command is sent again, also after this replica has lost its lease. */
  readonly #untilHeard = <T>(command: () => Promise<T>): Promise<T> => this.#patience.untilHeard(command)
  readonly #producer: Producer
  #isSending = false

  constructor(services: ReplicaServices) {
    this.#services = services
    this.#producer = producerOf(services.store)
    this.#producer.announcing.add(this)
    this.#patience = new Patience(services, () => this.#producer.announcing.size === 0)
  }

  /** Nothing is sent again from now on, because this replica ends, unless another endpoint uses the store. */
  stop(): void {
    this.#producer.announcing.delete(this)
  }

  /** Passes on what the server of this endpoint announces, unless another endpoint of that server does so. */
  hear(announcement: Announcement): void {
    const heard = this.#producer.announced.get(announcement)
    if (heard) return void heard.add(this)
    this.#producer.announced.set(announcement, new Set([this]))
    this.add(announcement)
  }

  add(announcement: Announcement): void {
    const change = plainChangeOf(announcement)
    if (change !== undefined && this.#waitingChanges.has(change)) return
    const kind = kindOf(announcement)
    const chars = charsOf(announcement)
    const of = this.#kinds.get(kind) ?? { count: 0, chars: 0 }
    const isFull = of.count >= MAX_WAITING
    if (isFull || (of.count > 0 && of.chars + chars > MAX_WAITING_CHARS)) {
      const limit = isFull ? `${MAX_WAITING} announcements` : `${MAX_WAITING_CHARS} characters of announcements`
      return this.#services.report(new Error(`More than ${limit} to clients (${kind}) wait. One was dropped`))
    }
    this.#kinds.set(kind, { count: of.count + 1, chars: of.chars + chars })
    this.#waiting.push({ announcement, chars })
    if (change !== undefined) this.#waitingChanges.add(change)
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const change = plainChangeOf(next.announcement)
      if (change !== undefined) this.#waitingChanges.delete(change)
      const kind = kindOf(next.announcement)
      const { count, chars } = this.#kinds.get(kind) ?? { count: 1, chars: next.chars }
      this.#kinds.set(kind, { count: count - 1, chars: chars - next.chars })
      try {
        await this.#send(next.announcement)
      } catch (error) {
        this.#services.report(error)
      }
    }
    this.#isSending = false
  }

  async #send(announcement: Announcement): Promise<void> {
    this.#patience.begin()
    if (announcement.kind === 'log') {
      const told = new Set<string>()
      for (const topic of logTopics(announcement.level)) await this.#tell(topic, { json: announcement.json }, told)
      return
    }
    if (announcement.kind === 'page') return this.#sendPage(announcement.elicitationId)
    // The other replicas are told even if the sessions cannot be, and the sessions even if the other replicas cannot be.
    await Promise.all([this.#broadcast(announcement.change), this.#tellSessions(announcement), this.#tellHere(announcement)])
  }

  /** To the other replicas all endpoints of this process are one. Those of other servers have not heard of the change. */
  async #tellHere(announcement: Announcement & { kind: 'change' }): Promise<void> {
    // All endpoints of the server hear of it in the same turn.
    await Promise.resolve()
    const { announced, announcing } = this.#producer
    const others = [...announcing].filter((each) => each !== this && !announced.get(announcement)?.has(each))
    for (const { service } of others.map((each) => each.#services)) service.onRemoteChange?.(announcement.change)
  }

  async #sendPage(elicitationId: string): Promise<void> {
    const { pages, standing } = this.#services
    const taker = randomId()
    const page = await this.#untilHeard(() => pages.take(elicitationId, taker))
    if (!page) return
    await this.#untilHeard(() => pages.end(elicitationId))
    await standing.append(page.sid, { json: page.json }, this.#untilHeard)
  }

  async #broadcast(change: Change): Promise<void> {
    const { messages } = this.#producer
    try {
      await this.#untilHeard(() => messages.broadcast({ kind: 'change', change }))
    } catch (error) {
      this.#services.report(error)
    }
  }

  async #tellSessions({ change, versions = [] }: Announcement & { kind: 'change' }): Promise<void> {
    switch (change.kind) {
      case 'resource': {
        const json = notificationJson('notifications/resources/updated', { uri: change.uri })
        const needed = this.#services.service.requiredScopes({ method: 'resources/read', params: { uri: change.uri } })
        const told = new Set<string>()
        for (const topic of resourceTopics(change.uri))
          await this.#tell(topic, { json, coalesce: `resource ${change.uri}` }, told, (scopes) =>
            needed.every((scope) => scopes.includes(scope)),
          )
        return
      }
      case 'extension': {
        const json = notificationJson(change.method, change.params)
        return this.#tell(READY, { json }, new Set(), ([version = '']) => versions.includes(version))
      }
      default:
        return this.#tell(READY, { json: notificationJson(`notifications/${change.kind}/list_changed`), coalesce: change.kind })
    }
  }

  async #tell(
    topic: string,
    event: StandingEvent,
    told = new Set<string>(),
    isFor: (facts: string[]) => boolean = () => true,
  ): Promise<void> {
    const { topics } = this.#services.store
    for (let cursor: string | undefined; ; ) {
      const { resent } = this.#patience
      const page = await this.#untilHeard(() => topics.page(topic, cursor))
      for (let at = 0; at < page.members.length; at += APPENDS) {
        await Promise.all(page.members.slice(at, at + APPENDS).map((member) => this.#tellOne(topic, member, event, told, isFor)))
      }
      const isOnly = cursor === undefined && page.next === undefined
      // A store that was restarted may have another order: then all pages are read again.
      const isSameOrder = isOnly || this.#patience.resent === resent
      if (isSameOrder && page.next === undefined) return
      cursor = isSameOrder ? page.next : undefined
    }
  }

  async #tellOne(
    topic: string,
    member: string,
    event: StandingEvent,
    told: Set<string>,
    isFor: (facts: string[]) => boolean,
  ): Promise<void> {
    const { store, standing, report } = this.#services
    const { sid, facts } = readMember(member)
    if (told.has(sid) || !isFor(facts)) return
    told.add(sid)
    try {
      if (!(await standing.append(sid, event, this.#untilHeard))) await store.topics.remove(topic, member)
    } catch (error) {
      // The other sessions are told.
      report(error)
    }
  }
}

const kindOf = (announcement: Announcement): string => ('change' in announcement ? announcement.change.kind : announcement.kind)

/** Names the change of a list or a resource. Its notice says only that the client should read it again. */
function plainChangeOf(announcement: Announcement): string | undefined {
  if (!('change' in announcement) || announcement.change.kind === 'extension') return undefined
  return announcement.change.kind === 'resource' ? `resource ${announcement.change.uri}` : announcement.change.kind
}

/** Announcements of other kinds are short. */
function charsOf(announcement: Announcement): number {
  if (announcement.kind === 'log') return announcement.json.length
  return 'change' in announcement && announcement.change.kind === 'extension' ? JSON.stringify(announcement.change.params).length : 0
}
