/** Passes on what this process tells clients outside of their requests: to the sessions of all replicas, and to the other replicas. */

import { notificationJson } from '../../../jsonrpc/write.ts'
import type { Announcement } from '../../../protocol/interfaces/service.ts'
import type { ReplicaServices } from './replica-services.ts'
import { logTopics, READY, readMember, resourceTopics } from './session-topics.ts'
import { appendStanding } from './standing-stream.ts'

/** Announcements of one kind that wait. More are dropped: a process that announces so many overloads its clients. */
const MAX_WAITING = 1000
/** Their characters. The notice of a finished task may carry its result. A single longer one may wait alone. */
const MAX_WAITING_CHARS = 16 * 1024 * 1024
/** Appends at once. */
const APPENDS = 64

export class Announcements {
  readonly #services: ReplicaServices
  readonly #waiting: { announcement: Announcement; chars: number }[] = []
  /** By kind, so that the notices about tasks of one client do not displace all others. */
  readonly #kinds = new Map<string, { count: number; chars: number }>()
  #isSending = false

  constructor(services: ReplicaServices) {
    this.#services = services
  }

  add(announcement: Announcement): void {
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
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
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
    if (announcement.kind === 'log') {
      for (const topic of logTopics(announcement.level)) await this.#tell(topic, { json: announcement.json })
      return
    }
    if (announcement.kind === 'page') {
      const page = await this.#services.pages.take(announcement.elicitationId)
      if (page) await appendStanding(page.sid, { json: page.json }, this.#services)
      return
    }
    const { change, versions = [] } = announcement
    await this.#services.store.replica.broadcast(JSON.stringify({ kind: 'change', change }))
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
    event: { json: string; coalesce?: string },
    told = new Set<string>(),
    isFor: (facts: string[]) => boolean = () => true,
  ): Promise<void> {
    const { topics } = this.#services.store
    let cursor: string | undefined
    do {
      const page = await topics.page(topic, cursor)
      cursor = page.next
      for (let at = 0; at < page.members.length; at += APPENDS) {
        await Promise.all(page.members.slice(at, at + APPENDS).map((member) => this.#tellOne(topic, member, event, told, isFor)))
      }
    } while (cursor !== undefined)
  }

  async #tellOne(
    topic: string,
    member: string,
    event: { json: string; coalesce?: string },
    told: Set<string>,
    isFor: (facts: string[]) => boolean,
  ): Promise<void> {
    const { sid, facts } = readMember(member)
    if (told.has(sid) || !isFor(facts)) return
    told.add(sid)
    if (!(await appendStanding(sid, event, this.#services))) await this.#services.store.topics.remove(topic, member)
  }
}

const kindOf = (announcement: Announcement): string => ('change' in announcement ? announcement.change.kind : announcement.kind)

/** Announcements of other kinds are short. */
function charsOf(announcement: Announcement): number {
  if (announcement.kind === 'log') return announcement.json.length
  return 'change' in announcement && announcement.change.kind === 'extension' ? JSON.stringify(announcement.change.params).length : 0
}
