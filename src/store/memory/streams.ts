/** The streams of sessions in memory. */

import { STANDING_STREAM, type StreamLogs } from '../stream-logs.ts'
import { EventLog } from './event-log.ts'
import type { ExpiringMap } from './expiring-map.ts'
import type { KeptEvents } from './kept-events.ts'
import type { MemoryReplica, MemoryReplicas } from './replicas.ts'
import type { SessionState } from './session-state.ts'

export function memoryStreams(
  sessions: ExpiringMap<SessionState>,
  replicas: MemoryReplicas,
  own: MemoryReplica,
  kept: KeptEvents,
  now: () => number,
): StreamLogs {
  const find = (sid: string, stream: string): EventLog | undefined => {
    const session = sessions.get(sid)
    const log = session?.stream(stream, now())
    if (log || !session || stream !== STANDING_STREAM) return log
    const standing = new EventLog(undefined, '', 0)
    session.streams.set(stream, standing)
    return standing
  }
  /** What this replica leaves must not grow with each session that ends first. */
  const gone = (sid: string, stream: string): 'gone' => {
    own.runs.delete(`${sid} ${stream}`)
    return 'gone'
  }
  const touch = (sid: string): void => {
    const session = sessions.get(sid)
    if (session) sessions.renew(sid, session.use(now()))
  }
  return {
    open: async (sid, stream, call) => {
      await own.join()
      const session = sessions.get(sid)
      if (!session) return 'gone'
      if (session.stream(stream, now()) || stream === STANDING_STREAM) return 'exists'
      const log = new EventLog(own.id, call, now())
      log.reader = { replica: own.id, number: ++log.readers }
      session.streams.set(stream, log)
      own.runs.set(`${sid} ${stream}`, { sid, stream })
      return log.epoch
    },
    append: async (sid, stream, batch, bounds) => {
      const log = find(sid, stream)
      if (!log) return gone(sid, stream)
      const wasOver = log.isOver
      const appended = log.append(own.id, batch, bounds, now())
      if (appended === 'gone' || appended === 'fenced') return appended
      if (log.isOver && !wasOver) {
        log.expiresAt = now() + bounds.endedTtlMs
        own.runs.delete(`${sid} ${stream}`)
        sessions.get(sid)?.keepEnded(stream, bounds.maxEnded)
      }
      const session = sessions.get(sid)
      if (session) kept.added(session, log, batch, bounds.maxSessionBytes)
      if (stream !== STANDING_STREAM) touch(sid)
      const { reader } = appended
      if (reader !== undefined && reader !== own.id && (batch.isLast || appended.positions.some(Boolean)))
        replicas.tell(reader, { kind: 'wake', sid, stream })
      return appended
    },
    attach: async (sid, stream, after, limit) => {
      await own.join()
      const log = find(sid, stream)
      if (!log) return 'gone'
      const from = after ?? log.from
      const read = log.read(after, limit)
      if (read === 'lost') return 'lost'
      touch(sid)
      const previous = log.reader?.replica
      const number = ++log.readers
      log.reader = { replica: own.id, number }
      if (previous !== undefined) replicas.tell(previous, { kind: 'superseded', sid, stream, reader: number })
      return { ...read, reader: number, owner: log.owner, from }
    },
    read: async (sid, stream, reader, after, limit) => {
      const log = find(sid, stream)
      if (!log) return 'gone'
      if (log.reader?.number !== reader) return 'superseded'
      touch(sid)
      return log.read(after, limit)
    },
    detach: async (sid, stream, reader) => {
      const log = find(sid, stream)
      if (log?.reader?.number === reader) log.reader = undefined
    },
    answer: async (sid, stream, question, json) => {
      const log = find(sid, stream)
      if (log?.answers.has(question)) return 'duplicate'
      if (!log?.questions.has(question) || log.isOver) return 'unknown'
      const asker = log.questions.get(question) ?? log.owner
      log.questions.delete(question)
      log.answers.set(question, json)
      if (asker !== undefined) replicas.tell(asker, { kind: 'answered', sid, stream, question, json })
      return 'accepted'
    },
    answers: async (sid, stream, epoch) => {
      const log = find(sid, stream)
      if (!log) return gone(sid, stream)
      if (log.isOver || (log.owner !== undefined && (log.owner !== own.id || log.epoch !== epoch))) return 'fenced'
      touch(sid)
      return Object.fromEntries(log.answers)
    },
    settle: async (sid, stream, question) => {
      const log = find(sid, stream)
      log?.questions.delete(question)
      log?.answers.delete(question)
    },
    record: async (sid, stream, epoch, name, json) => {
      const log = find(sid, stream)
      if (!log) gone(sid, stream)
      if (!log || log.isOver || log.owner !== own.id || log.epoch !== epoch) return false
      log.journal.set(name, json)
      return true
    },
    takeOver: async (sid, stream, from) => {
      await own.join()
      replicas.forgetRun(from, `${sid} ${stream}`)
      const log = find(sid, stream)
      if (!log || log.isOver || log.owner === undefined || log.owner !== from) return undefined
      log.takeOver(own.id, now())
      own.runs.set(`${sid} ${stream}`, { sid, stream })
      return {
        epoch: log.epoch,
        call: log.call,
        journal: Object.fromEntries(log.journal),
        answers: Object.fromEntries(log.answers),
        questions: [...log.questions.keys()],
      }
    },
  }
}
