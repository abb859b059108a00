/** The streams of sessions in Redis. */

import { BoundedMap } from '../base/bounded-map.ts'
import { randomId } from '../base/bytes.ts'
import { type Appended, type EventsRead, STANDING_STREAM, type StreamEvent, type StreamLogs, type TakenOver } from '../store/stream-logs.ts'
import { isUnreadable } from '../store/unreadable.ts'
import type { Reply } from './client-library.ts'
import { type Argument, isDamaged } from './connection.ts'
import { type RedisContext, textOf } from './context.ts'
import { readStep } from './journal-entry.ts'
import { digestOf } from './keys.ts'
import { redisQuestions } from './questions.ts'
import type { RedisReplica } from './replica.ts'
import { appendEvents } from './scripts/append-events.ts'
import { attachReader } from './scripts/attach-reader.ts'
import { detachReader } from './scripts/detach-reader.ts'
import { openStream } from './scripts/open-stream.ts'
import { readEvents } from './scripts/read-events.ts'
import { takeOver } from './scripts/take-over.ts'
import { keyIdOf } from './sealed-values.ts'
import { placeOf } from './stream-place.ts'

const MAX_ATTEMPTS = 10_000

export function redisStreams(context: RedisContext, own: RedisReplica): StreamLogs {
  const { connection, keys, values, reportUnreadable } = context
  /** Names of attempts to open a stream that got no reply. One that was made is recognised when it is tried again. */
  const attempts = new BoundedMap<string, string>(MAX_ATTEMPTS)
  const keysOf = (sid: string, name: string): string[] => {
    const { lasting, stream, log } = keys.session(sid)
    return [...lasting, stream + name, log + name]
  }
  const eventsIn = async (sid: string, stream: string, reply: Reply[], limit: number): Promise<Pick<EventsRead, 'events' | 'next'>> => {
    const place = placeOf('event', sid, stream)
    const events: StreamEvent[] = []
    for (let at = 0; at < reply.length; at += 2) {
      try {
        events.push({ position: textOf(reply[at]), json: await values.open(reply[at + 1] as Buffer, place) })
      } catch (error) {
        if (stream !== STANDING_STREAM || !isUnreadable(error)) throw error
        // Every replica may add notices. One with other keys must not keep the clients from all that follow.
        reportUnreadable('a notice of another replica cannot be read', error)
      }
    }
    const [found, last] = [reply.length / 2, reply.at(-2)]
    return { events, next: last && (found === limit || events.length < found) ? textOf(last) : undefined }
  }
  /** What a replica left of a request, from the fields of its stream. */
  const leftIn = async (sid: string, stream: string, fields: Reply[]): Promise<Omit<TakenOver, 'epoch'>> => {
    const left = { call: '', journal: {}, answers: {}, questions: [] as string[] }
    for (let at = 0; at < fields.length; at += 2) {
      const [name, value] = [textOf(fields[at]), fields[at + 1] as Buffer]
      const key = name.slice(2)
      if (name === 'call') left.call = await values.open(value, placeOf('call', sid, stream))
      else if (name.startsWith('q:')) left.questions.push(key)
      else if (name.startsWith('j:')) {
        const step = readStep(await values.open(value, placeOf('step', sid, stream, key)))
        Object.assign(left.journal, { [step.name]: step.json })
      } else if (name.startsWith('a:'))
        Object.assign(left.answers, { [key]: await values.open(value, placeOf('answer', sid, stream, key)) })
    }
    return left
  }
  const isReadable = async (sid: string, stream: string): Promise<boolean> => {
    // In capitals: ioredis makes an object of the reply to `hgetall`.
    const fields = (await connection.command('HGETALL', keys.session(sid).stream + stream)) as Reply[]
    try {
      await leftIn(sid, stream, fields)
      return true
    } catch (error) {
      // Broken text is broken for all replicas.
      if (error instanceof SyntaxError) return true
      if (!isUnreadable(error)) throw error
      reportUnreadable('a request of another replica is left to others', error)
      return false
    }
  }
  const detach = async (sid: string, stream: string, reader: number): Promise<void> => {
    await connection.run(detachReader, [keys.session(sid).stream + stream], [reader])
  }
  /** Takeovers that run now. Another endpoint of this process may begin the same one. */
  const taking = new Map<string, Promise<TakenOver | undefined>>()
  const take = async (name: string, sid: string, stream: string, from: string): Promise<TakenOver | undefined> => {
    await own.join()
    const { id } = own
    // Another replica may have the key. If none takes it in time, this one ends the stream.
    if (!own.unheard.has(name) && !(await isReadable(sid, stream)) && (await own.skipForALease(from))) return undefined
    await own.noteRun(id, sid, stream)
    const attempt = own.unheard.get(name)?.attempt ?? randomId()
    own.unheard.set(name, { attempt, left: { replica: from, streams: [{ sid, stream }] } })
    const reply = await connection.run(takeOver, keysOf(sid, stream), [from, id, attempt])
    own.unheard.delete(name)
    own.forgetRunOf(from, sid, stream)
    if (!Array.isArray(reply)) {
      // Another endpoint of this process may have been faster. Then this replica runs the stream.
      if (reply === null) own.forgetRunOf(id, sid, stream)
      return undefined
    }
    own.expectId(id)
    const [epoch, call, fields] = reply as [number, Buffer, Reply[]]
    try {
      return { epoch, ...(await leftIn(sid, stream, [Buffer.from('call'), call, ...fields])) }
    } catch (error) {
      // The stream is taken over. Without an owner that ends it, its client would wait for ever.
      reportUnreadable('a request of another replica cannot be run again', error)
      return { epoch, call: '', journal: {}, answers: {}, questions: [] }
    }
  }
  return {
    ...redisQuestions(context, own),
    open: async (sid, stream, call) => {
      await own.join()
      if (stream === STANDING_STREAM) return 'exists'
      const sealed = await values.seal(call, placeOf('call', sid, stream))
      const { id } = own
      const noted = own.noteRun(id, sid, stream)
      // Redis runs the commands of one connection in order. The nodes of a cluster do not wait for each other.
      if (connection.target.kind === 'cluster') await noted
      const name = `${sid} ${stream} ${id}`
      const attempt = attempts.get(name) ?? randomId()
      attempts.delete(name)
      const opened = connection.run(openStream, keysOf(sid, stream), [stream, id, sealed, attempt])
      const [reply] = await Promise.all([opened, noted]).catch((error: unknown) => {
        attempts.set(name, attempt)
        throw error
      })
      own.expectId(id)
      if (typeof reply === 'number') return reply
      const outcome = textOf(reply) as 'gone' | 'exists' | 'own'
      if (outcome === 'own') return 'exists'
      own.forgetRun(sid, stream)
      return outcome
    },
    append: async (sid, stream, { n, epoch, events, isLast }, bounds): Promise<Appended> => {
      const { stream: streamStart, log: logStart } = keys.session(sid)
      const place = placeOf('event', sid, stream)
      const { maxEvents, maxBytes, maxSessionBytes, endedTtlMs, maxEnded } = bounds
      const args: Argument[] = [own.id, n, epoch ?? '', isLast ? 1 : 0, maxEvents, maxBytes, Math.ceil(endedTtlMs), maxEnded]
      args.push(stream, streamStart, logStart, own.producer, maxSessionBytes, STANDING_STREAM)
      for (const { json, question = '', coalesce } of events) {
        const sealed = await values.seal(json, place)
        // A notice that readers cannot open must not take the place of one that they can.
        args.push(sealed, question, coalesce === undefined ? '' : digestOf(`${keyIdOf(sealed)} ${coalesce}`))
      }
      const reply = await connection.run(appendEvents, keysOf(sid, stream), args)
      if (!Array.isArray(reply)) {
        const outcome = textOf(reply) as 'gone' | 'fenced'
        if (outcome === 'gone') own.forgetRun(sid, stream)
        return outcome
      }
      if (isLast) own.forgetRun(sid, stream)
      const [ms, first, marks, readerId] = reply as [number, number, Buffer, Buffer]
      let next = first
      const positions = [...textOf(marks)].map((mark) => (mark === '1' ? `${ms}-${next++}` : undefined))
      const reader = textOf(readerId) || undefined
      if (reader !== undefined && reader !== own.id && (isLast || positions.some(Boolean))) own.hint(reader, { kind: 'wake', sid, stream })
      return { positions, reader }
    },
    attach: async (sid, stream, after, limit) => {
      await own.join()
      const args = [own.id, after === undefined ? 0 : 1, after ?? '', limit, stream === STANDING_STREAM ? 1 : 0]
      const reply = await connection.run(attachReader, keysOf(sid, stream), args)
      if (!Array.isArray(reply)) return textOf(reply) as 'gone' | 'lost'
      const [over, reader, owner, previous, from, events] = reply as [number, number, Buffer, Buffer, Buffer, Reply[]]
      if (previous.length > 0) own.hint(textOf(previous), { kind: 'superseded', sid, stream, reader })
      try {
        const read = await eventsIn(sid, stream, events, limit)
        return { ...read, isOver: over === 1, reader, owner: textOf(owner) || undefined, from: textOf(from) }
      } catch (error) {
        // The client gets nothing here, so this replica is no reader of the stream.
        await detach(sid, stream, reader).catch(() => {})
        throw error
      }
    },
    read: async (sid, stream, reader, after, limit) => {
      const reply = await connection.run(readEvents, keysOf(sid, stream), [reader, after === undefined ? 0 : 1, after ?? '', limit])
      if (!Array.isArray(reply)) return textOf(reply) as 'gone' | 'lost' | 'superseded'
      const [over, events] = reply as [number, Reply[]]
      return { ...(await eventsIn(sid, stream, events, limit)), isOver: over === 1 }
    },
    detach,
    takeOver: async (sid, stream, from) => {
      const name = `${sid} ${stream} ${from}`
      const running = taking.get(name)
      // If Redis does not answer, both endpoints try again.
      if (running) return running.then(() => undefined)
      const taken = take(name, sid, stream, from)
        .catch((error: unknown) => {
          if (!isDamaged(error)) throw error
          // No replica can take it over. The other requests must not wait for it.
          reportUnreadable('a request of another replica cannot be taken over', error)
          own.unheard.delete(name)
          own.forgetRunOf(from, sid, stream)
          own.forgetRun(sid, stream)
          return undefined
        })
        .finally(() => taking.delete(name))
      taking.set(name, taken)
      return taken
    },
  }
}
