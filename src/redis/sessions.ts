/** The sessions in Redis. */

import { randomId } from '../base/bytes.ts'
import type { Entered, LookedAtSession, SessionTable } from '../store/session-table.ts'
import { STANDING_STREAM } from '../store/stream-logs.ts'
import { type RedisContext, textOf } from './context.ts'
import { digestOf } from './keys.ts'
import { LateLeaves } from './late-leaves.ts'
import type { RedisReplica } from './replica.ts'
import { createSession } from './scripts/create-session.ts'
import { endSession } from './scripts/end-session.ts'
import { enterSession } from './scripts/enter-session.ts'
import { forgetCalls } from './scripts/forget-calls.ts'
import { idleSession } from './scripts/idle-session.ts'
import { replaceSession } from './scripts/replace-session.ts'

/** A longer name of a request becomes a digest: a client chooses it. */
const MAX_CALL_CHARS = 64

const fieldOf = (call: string): string => (call.length > MAX_CALL_CHARS ? `digest ${digestOf(call)}` : call)

const placeOf = (sid: string): string => `session ${sid}`

export function redisSessions(context: RedisContext, own: RedisReplica): SessionTable {
  const { connection, keys, values } = context
  const sawLife = (lifeMs: number): void => {
    if (lifeMs > context.longestLifeMs) context.longestLifeMs = lifeMs
  }
  const forgetCall = async (sid: string, call: string): Promise<void> => {
    await connection.command('HDEL', keys.session(sid).calls, fieldOf(call))
  }
  const late = new LateLeaves(forgetCall)
  const enter = async (sid: string, call: string, maxCalls: number): Promise<Entered> => {
    const { session, calls } = keys.session(sid)
    const reply = await connection.run(enterSession, [session, calls], [fieldOf(call), own.id, maxCalls, call === '' ? '' : randomId()])
    if (!Array.isArray(reply)) return textOf(reply) as 'gone' | 'duplicate' | 'full'
    const [revision, due, life, record] = reply as [number, number, number, Buffer]
    sawLife(life)
    return { record: await values.open(record, placeOf(sid)), revision, isTopicRenewalDue: due === 1 }
  }
  const look = async (sid: string, idleMs: number | '', live: string[]): Promise<'gone' | 'ended' | LookedAtSession> => {
    const { session, calls, streams, dirty, stream, log } = keys.session(sid)
    const reply = await connection.run(idleSession, [session, calls, streams, dirty], [stream, log, STANDING_STREAM, idleMs, ...live])
    if (!Array.isArray(reply)) return textOf(reply) as 'gone' | 'ended'
    const [idle, record] = reply as [Buffer, Buffer]
    const text = textOf(idle)
    return { record: await values.open(record, placeOf(sid)), idleMs: text === '' ? undefined : Number(text) }
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
    enter: async (sid, call, maxCalls) => {
      if (call === undefined) return enter(sid, '', maxCalls)
      await own.join()
      const entered = await enter(sid, call, maxCalls).catch((error: unknown) => {
        // Perhaps it was registered, and only the reply is missing.
        late.add(sid, fieldOf(call))
        throw error
      })
      if (entered !== 'duplicate' && entered !== 'full') return entered
      // Perhaps the request is one of a replica that died.
      const { live } = await own.directory()
      const forgotten = await connection.run(forgetCalls, [keys.session(sid).calls], [own.id, ...live])
      return forgotten === 0 ? entered : enter(sid, call, maxCalls)
    },
    leave: async (sid, call) => {
      try {
        await forgetCall(sid, call)
      } catch (error) {
        late.add(sid, fieldOf(call))
        throw error
      }
    },
    replace: async (sid, record, revision) => {
      const reply = await connection.run(replaceSession, [keys.session(sid).session], [await values.seal(record, placeOf(sid)), revision])
      return reply === 1
    },
    end: async (sid) => {
      const { session, calls, streams, dirty, stream, log } = keys.session(sid)
      return (await connection.run(endSession, [session, calls, streams, dirty], [stream, log, STANDING_STREAM])) === 1
    },
    idle: async (sids) => {
      const { live } = await own.directory()
      return Promise.all(sids.map(async (sid) => (await look(sid, '', live)) as 'gone' | LookedAtSession))
    },
    endIdle: async (sid, idleMs) => (await look(sid, Math.floor(idleMs), (await own.directory()).live)) === 'ended',
    runnerOf: async (sid, call) => {
      const reply = await connection.command('HGET', keys.session(sid).calls, fieldOf(call))
      return reply === null ? undefined : textOf(reply).split(' ')[0]
    },
  }
}
