/** The sessions in Redis. */

import { randomId } from '../base/bytes.ts'
import { isNotRun } from '../store/faults.ts'
import type { Entered, LookedAtSession, SessionTable } from '../store/session-table.ts'
import { isUnreadable } from '../store/unreadable.ts'
import { isDamaged } from './connection.ts'
import { type RedisContext, textOf } from './context.ts'
import { digestOf } from './keys.ts'
import { LateLeaves } from './late-leaves.ts'
import type { RedisReplica } from './replica.ts'
import { cancelCall } from './scripts/cancel-call.ts'
import { createSession } from './scripts/create-session.ts'
import { endSession } from './scripts/end-session.ts'
import { enterSession } from './scripts/enter-session.ts'
import { forgetCalls } from './scripts/forget-calls.ts'
import { idleSession } from './scripts/idle-session.ts'
import { leaveCall } from './scripts/leave-call.ts'
import { replaceSession } from './scripts/replace-session.ts'

/** A longer name of a request becomes a digest: a client chooses it. */
const MAX_CALL_CHARS = 64

const fieldOf = (call: string): string => (call.length > MAX_CALL_CHARS ? `digest ${digestOf(call)}` : call)

/** The attempt of a request that was taken over: a replica takes it over once, also if the reply is lost and it tries again. */
const TAKEN_OVER = 'taken-over'

const placeOf = (sid: string): string => `session ${sid}`

/** As `callText` of the scripts writes it. */
const isCancelled = (call: Buffer | null | undefined): boolean => call != null && textOf(call).endsWith(' c')

export function redisSessions(context: RedisContext, own: RedisReplica): SessionTable {
  const { connection, keys, values, reportUnreadable } = context
  const sawLife = (lifeMs: number): void => {
    if (lifeMs > context.longestLifeMs) context.longestLifeMs = lifeMs
  }
  const late = new LateLeaves(async ({ sid, field, replica, attempt }) => {
    await connection.run(leaveCall, [keys.session(sid).calls], [field, replica, attempt])
  })
  const enter = async (sid: string, call: string, maxCalls: number, attempt: string, live: string[] = []): Promise<Entered> => {
    const { lasting } = keys.session(sid)
    const reply = await connection.run(enterSession, lasting, [fieldOf(call), own.id, maxCalls, attempt, ...live])
    if (!Array.isArray(reply)) return textOf(reply) as 'gone' | 'duplicate' | 'full'
    const [revision, due, life, record, cancelled] = reply as [number, number, number, Buffer, number]
    sawLife(life)
    return { record: await values.open(record, placeOf(sid)), revision, isTopicRenewalDue: due === 1, isCancelled: cancelled === 1 }
  }
  const register = async (sid: string, call: string, maxCalls: number): Promise<Entered> => {
    const registration = { sid, field: fieldOf(call), replica: own.id, attempt: randomId() }
    try {
      const entered = await enter(sid, call, maxCalls, registration.attempt)
      if (typeof entered === 'object') late.forget({ ...registration, attempt: '' })
      return entered
    } catch (error) {
      // Perhaps it was registered, and only the reply is missing.
      if (!isNotRun(error)) late.add(registration)
      throw error
    }
  }
  /** Removes requests of replicas that are gone. Cancelled ones are kept, and do not count: they must not run again. */
  const forgetDead = async (sid: string, only: string, maxKept: number, live: string[]): Promise<{ kept: number } | undefined> => {
    const [removed, kept] = (await connection.run(forgetCalls, [keys.session(sid).calls], [only, maxKept, ...live])) as [number, number]
    return removed + kept > 0 ? { kept } : undefined
  }
  /** A request that was taken over keeps what is noted about it. */
  const takeOver = async (sid: string, call: string, maxCalls: number): Promise<Entered> => {
    const live = [own.id, ...(await own.directory()).live]
    let entered = await enter(sid, call, maxCalls, TAKEN_OVER, live)
    const room = entered === 'full' && (await forgetDead(sid, '', maxCalls, live))
    if (room) entered = await enter(sid, call, maxCalls + room.kept, TAKEN_OVER, live)
    // A late end of an earlier attempt must not remove this registration.
    if (typeof entered === 'object') late.forget({ sid, field: fieldOf(call), replica: own.id, attempt: '' })
    return entered
  }
  /** Returns 'gone', 'ended', or how long it was idle and its sealed record. One session must not fail a look at several. */
  const look = async (sid: string, idleMs: number | '', live: string[]): Promise<'gone' | 'ended' | [idle: Buffer, record: Buffer]> => {
    const { lasting, stream, log } = keys.session(sid)
    try {
      const reply = await connection.run(idleSession, lasting, [stream, log, idleMs, ...live])
      return Array.isArray(reply) ? (reply as [Buffer, Buffer]) : (textOf(reply) as 'gone' | 'ended')
    } catch (error) {
      if (!isDamaged(error)) throw error
      reportUnreadable('a session is damaged', error)
      return 'gone'
    }
  }
  const lookAt = async (sid: string, live: string[]): Promise<'gone' | LookedAtSession> => {
    const looked = await look(sid, '', live)
    if (!Array.isArray(looked)) return 'gone'
    const [idle, sealed] = looked
    const text = textOf(idle)
    const idleMs = text === '' ? undefined : Number(text)
    try {
      return { record: await values.open(sealed, placeOf(sid)), idleMs }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return { record: undefined, idleMs }
    }
  }
  return {
    create: async (sid, record, { ttlMs, maxAgeMs }) => {
      sawLife(ttlMs)
      await connection.run(
        createSession,
        [keys.session(sid).session],
        [await values.seal(record, placeOf(sid)), Math.ceil(ttlMs), Math.ceil(maxAgeMs)],
      )
    },
    enter: async (sid, call, maxCalls, isTakenOver) => {
      if (call === undefined) return enter(sid, '', maxCalls, '')
      await own.join()
      if (isTakenOver) return takeOver(sid, call, maxCalls)
      const entered = await register(sid, call, maxCalls)
      if (entered !== 'duplicate' && entered !== 'full') return entered
      // Perhaps the request is one of a replica that died.
      const { live } = await own.directory()
      const only = entered === 'duplicate' ? fieldOf(call) : ''
      const room = await forgetDead(sid, only, maxCalls, [own.id, ...live])
      return room ? register(sid, call, maxCalls + room.kept) : entered
    },
    leave: (sid, call) => late.leave({ sid, field: fieldOf(call), replica: own.id, attempt: '' }),
    replace: async (sid, record, revision) => {
      const reply = await connection.run(replaceSession, [keys.session(sid).session], [await values.seal(record, placeOf(sid)), revision])
      return reply === 1
    },
    end: async (sid) => {
      const { lasting, stream, log } = keys.session(sid)
      return (await connection.run(endSession, lasting, [stream, log])) === 1
    },
    idle: async (sids) => {
      const { live } = await own.directory()
      return Promise.all(sids.map((sid) => lookAt(sid, live)))
    },
    endIdle: async (sid, idleMs) => (await look(sid, Math.floor(idleMs), (await own.directory()).live)) === 'ended',
    cancel: async (sid, call) => {
      const runner = await connection.run(cancelCall, [keys.session(sid).calls], [fieldOf(call)])
      return runner === null ? undefined : textOf(runner)
    },
    cancelled: async (sid, calls) => {
      if (calls.length === 0) return []
      const inProgress = (await connection.command('HMGET', keys.session(sid).calls, ...calls.map(fieldOf))) as (Buffer | null)[]
      return calls.filter((_, at) => isCancelled(inProgress[at]))
    },
  }
}
