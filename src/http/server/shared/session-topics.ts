/** The topics of a shared session: what it wants to be told, and who its caller is. */

import { isAtLeast, LOG_LEVELS, type LogLevel } from '../../../protocol/model/logging.ts'
import { weightOf } from '../../../protocol/subscription-bounds.ts'
import type { Topics } from '../../../store/topics.ts'
import type { SessionRecord } from './session-record.ts'

/** All sessions, for their number. */
export const SESSIONS = 'sessions'
/** The sessions whose clients have finished the handshake, each with its version. */
export const READY = 'ready'

/** The topics whose sessions receive a log message of this level. */
export const logTopics = (level: LogLevel): string[] => LOG_LEVELS.filter((minimum) => isAtLeast(level, minimum)).map(logTopic)

const logTopic = (minimum: LogLevel): string => `log ${minimum}`

const resourceTopic = (uri: string): string => `resource ${uri}`

/** The topics of the subscriptions that cover a changed resource: of itself, and of each resource above it. */
export function resourceTopics(changed: string): string[] {
  const topics = [resourceTopic(changed)]
  for (let at = changed.indexOf('/'); at >= 0; at = changed.indexOf('/', at + 1)) {
    for (const above of [changed.slice(0, at), changed.slice(0, at + 1)])
      if (above !== '' && above !== changed) topics.push(resourceTopic(above))
  }
  return [...new Set(topics)]
}

/** A member is a session id and the facts that decide whether it is told, such as the scopes of a subscriber. */
const memberOf = (sid: string, facts: readonly string[]): string => [sid, ...facts].join(' ')

export function readMember(member: string): { sid: string; facts: string[] } {
  const [sid = '', ...facts] = member.split(' ')
  return { sid, facts }
}

/**
 * Counting each subscription would take too much memory, so only full blocks of 64 count. Each is a member of two topics. Sessions with few
 * subscriptions do not count, and their number has a limit.
 */
const BLOCK = 64

/** All blocks of subscriptions. Those of a caller are in a topic of its own. */
export const SUBSCRIPTIONS = 'subscriptions'
export const subscriptionsOf = (caller: string): string => `${SUBSCRIPTIONS} ${caller}`

export const weightOfBlocks = (blocks: number): number => blocks * BLOCK

export function blocksOf({ state }: SessionRecord): number {
  let weight = 0
  for (const uri of Object.keys(state.subscriptions)) weight += weightOf(uri)
  return Math.floor(weight / BLOCK)
}

/** All topics of a session, each with the member that it is there. */
export function topicsOf(sid: string, record: SessionRecord): [topic: string, member: string][] {
  const { caller, state } = record
  const topics: [string, string][] = [
    [SESSIONS, sid],
    [caller, sid],
  ]
  if (!state.isReady) return topics
  topics.push([READY, memberOf(sid, [state.version])], [logTopic(state.logLevel), sid])
  for (let block = 0; block < blocksOf(record); block++) {
    for (const topic of [SUBSCRIPTIONS, subscriptionsOf(caller)]) topics.push([topic, memberOf(sid, [String(block)])])
  }
  for (const [uri, scopes] of Object.entries(state.subscriptions)) topics.push([resourceTopic(uri), memberOf(sid, scopes)])
  return topics
}

/** Adds a session to the topics of `record` that are not those of `former`. */
export async function addTopics(
  topics: Topics,
  sid: string,
  former: SessionRecord | undefined,
  record: SessionRecord,
  lifeMs: number,
): Promise<void> {
  await Promise.all(without(sid, record, former).map(([topic, member]) => topics.add(topic, member, lifeMs)))
}

/** Removes a session from the topics of `record` that are not those of `later`. Returns how many these are. */
export async function removeTopics(topics: Topics, sid: string, record: SessionRecord, later?: SessionRecord): Promise<number> {
  const leaving = without(sid, record, later)
  await Promise.all(leaving.map(([topic, member]) => topics.remove(topic, member)))
  return leaving.length
}

function without(sid: string, record: SessionRecord, other: SessionRecord | undefined): [topic: string, member: string][] {
  const others = new Set((other ? topicsOf(sid, other) : []).map((each) => each.join('\n')))
  return topicsOf(sid, record).filter((each) => !others.has(each.join('\n')))
}
