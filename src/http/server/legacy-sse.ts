/** The transport of the oldest revision: one endpoint to listen at, one to send to, tied together by an id. */

import { randomId } from '../../base/bytes.ts'
import type { Incoming } from '../../jsonrpc/message.ts'
import type { Outlet } from '../../jsonrpc/outlet.ts'
import type { Access } from '../../protocol/seams/access.ts'
import type { Channel, Service } from '../../protocol/seams/service.ts'
import type { HttpRequestView, HttpReply } from './runtime/view.ts'
import type { BodyMemory } from './limits/body-memory.ts'
import type { CallerUsage } from './limits/caller-usage.ts'
import type { InFlight } from './limits/in-flight.ts'
import type { OpenStreams } from './streams/open-streams.ts'
import type { HttpLimits } from './options.ts'
import { idOf, expectsAnswer } from './expects-answer.ts'
import { PlainStream } from './streams/plain-stream.ts'
import { about, busy, type Refusal, refuse } from './refusal.ts'
import type { HttpPost } from './stateless.ts'

export interface LegacySseOptions {
  service: Service
  limits: HttpLimits
  load: InFlight
  open: OpenStreams
  now(): number
}

interface LegacySession {
  principal: string | undefined
  holder: CallerUsage
  channel: Channel
  stream: PlainStream
  inFlight: number
  /** Takes no new work, and ends when what is in hand is done. */
  isRetired: boolean
  pingedAt: number
  missedPings: number
}

const NOT_FOUND = refuse(404, 'Session not found')

export class LegacySse {
  readonly #options: LegacySseOptions
  readonly #sessions = new Map<string, LegacySession>()
  #stopTending: (() => void) | undefined

  constructor(options: LegacySseOptions) {
    this.#options = options
  }

  /** Opens the stream that everything the server says goes to; its first event says where to send to. */
  connect(ask: HttpRequestView, reply: HttpReply, principal: string | undefined, holder: CallerUsage): Refusal | undefined {
    const { service, open, now } = this.#options
    const full = this.#checkRoom(holder)
    if (full) return full
    const id = randomId()
    const end = (): void => this.#end(id, 'The client closed its stream')
    const stream = new PlainStream(reply, open, holder, () => this.#retire(id), end)
    const push = (json: string): undefined | Promise<void> => stream.push(json)
    const channel = service.open({ outlet: { push, answer: (json) => void push(json), drop: () => {} }, principal })
    holder.legacySessions++
    this.#sessions.set(id, { principal, holder, channel, stream, inFlight: 0, isRetired: false, pingedAt: now(), missedPings: 0 })
    this.#stopTending ??= open.everyTick(() => this.#tend())
    stream.event('endpoint', `${sendingPath(ask.url)}?sessionId=${id}`)
    return undefined
  }

  receive(message: Incoming, { ask, reply, principal, access, body }: Omit<HttpPost, 'kinds' | 'holder'>): Refusal | undefined {
    const id = /[?&]sessionId=([A-Za-z0-9_-]+)/.exec(ask.url)?.[1]
    if (id === undefined) return refuse(400, 'The query must have sessionId, as the endpoint event gave it')
    const conversation = this.#sessions.get(id)
    if (conversation?.principal !== principal || !conversation) return NOT_FOUND
    if (message.kind === 'malformed') return about(refuse(400, message.error.message, { code: message.error.code }), message.id)
    if (message.kind === 'ignored') return refuse(400, message.reason)
    const owesAnswer = expectsAnswer(message)
    if (owesAnswer && conversation.isRetired) return about(NOT_FOUND, idOf(message))
    const full = owesAnswer ? this.#enter(conversation, body) : undefined
    if (full) return about(full, idOf(message))
    reply.send(202, {})
    conversation.channel.receive(message, this.#outletOf(id, conversation, owesAnswer, access, body))
    return undefined
  }

  endAll(reason: string): void {
    for (const id of [...this.#sessions.keys()]) this.#end(id, reason)
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Each has an open stream, so none is idle that could give way. */
  #checkRoom(holder: CallerUsage): Refusal | undefined {
    const { limits, load, open } = this.#options
    const { maxSessions, maxSessionsPerPrincipal, maxSessionsPerAddress } = limits
    if (this.#sessions.size >= maxSessions) return busy(503, 'maxSessions', maxSessions, 'sessions')
    if (holder.kind === 'principal' && holder.legacySessions >= maxSessionsPerPrincipal)
      return busy(429, 'maxSessionsPerPrincipal', maxSessionsPerPrincipal, 'sessions of one caller')
    if (holder.kind === 'address' && maxSessionsPerAddress !== false && holder.legacySessions >= maxSessionsPerAddress)
      return busy(429, 'maxSessionsPerAddress', maxSessionsPerAddress, 'sessions of one address')
    return load.checkStreams(holder, open.size)
  }

  #enter(conversation: LegacySession, body: BodyMemory): Refusal | undefined {
    const { load, limits } = this.#options
    const max = limits.maxInFlightPerSession
    if (conversation.inFlight >= max) return busy(429, 'maxInFlightPerSession', max, 'requests at once in this session')
    const full = load.enter(conversation.holder, body)
    if (!full) conversation.inFlight++
    return full
  }

  #outletOf(id: string, conversation: LegacySession, owesAnswer: boolean, sender: Access, body: BodyMemory): Outlet {
    const over = (): void => {
      if (!owesAnswer) return
      conversation.inFlight--
      this.#options.load.leave(conversation.holder, body)
      if (conversation.isRetired) queueMicrotask(() => this.#retire(id))
    }
    return {
      sender,
      push: (json) => conversation.stream.push(json),
      answer: (json) => {
        void conversation.stream.push(json)
        over()
      },
      drop: over,
    }
  }

  /** Asks those who only listen for a sign of life: a line that broke without a word shows in nothing else. */
  #tend(): void {
    const { limits, now } = this.#options
    for (const [id, conversation] of this.#sessions) {
      if (conversation.inFlight > 0 || now() - conversation.pingedAt < limits.pingMs) continue
      conversation.pingedAt = now()
      conversation.channel.ping(limits.pingMs / 3).then(
        () => {
          conversation.missedPings = 0
        },
        () => {
          if (++conversation.missedPings >= limits.maxMissedPings) this.#end(id, 'The client does not answer')
        },
      )
    }
  }

  #retire(id: string): void {
    const conversation = this.#sessions.get(id)
    if (!conversation) return
    conversation.isRetired = true
    if (conversation.inFlight === 0) this.#end(id, 'The stream is too old')
  }

  #end(id: string, reason: string): void {
    const conversation = this.#sessions.get(id)
    if (!conversation) return
    this.#sessions.delete(id)
    conversation.holder.legacySessions--
    conversation.channel.close(reason)
    conversation.stream.finish(undefined)
    if (this.#sessions.size > 0) return
    this.#stopTending?.()
    this.#stopTending = undefined
  }
}

/** The endpoint to send to stands beside the one that is listened at. */
function sendingPath(url: string): string {
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  return `${path.slice(0, path.lastIndexOf('/') + 1)}messages`
}
