/** The names of the keys in Redis. What must change together shares the part in braces, so that a cluster keeps it on one node. */

import { createHash } from 'node:crypto'
import { STANDING_STREAM } from '../store/stream-logs.ts'

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22)

export interface SessionKeys {
  session: string
  calls: string
  /** The start of the names of streams and logs. */
  stream: string
  log: string
  /**
   * What lasts as long as the session, in the order of `SESSION` of the scripts: record, requests, names of streams; the standing stream, its
   * log, and its changes that were not read.
   */
  lasting: readonly string[]
}

export interface ReplicaKeys {
  lease: string
  inbox: string
  runs: string
  claim: string
}

export interface Keys {
  session(sid: string): SessionKeys
  replica(id: string): ReplicaKeys
  /** All replicas. */
  readonly directory: string
  topic(topic: string): string
  counter(kind: 'rate' | 'places' | 'mark' | 'lock' | 'value', key: string): string
  task(owner: string, taskId: string): string
  /** @param digest of the owner */
  taskOfDigest(digest: string, taskId: string): string
  tasksOf(owner: string): string
  tasksOfDigest(digest: string): string
  tasksOfAccount(account: string): string
  readonly allTasks: string
  /** @param account undefined: all accounts */
  taskBytes(account?: string): { sizes: string; ends: string }
}

export function keysWith(prefix: string): Keys {
  const tasksOfDigest = (digest: string): string => `${prefix}{tasks:${digest}}`
  const taskOfDigest = (digest: string, taskId: string): string => `${tasksOfDigest(digest)}:${taskId}`
  return {
    session: (sid) => {
      const tag = `${prefix}{${sid}}`
      const [session, calls, stream, log] = [`${tag}:session`, `${tag}:calls`, `${tag}:stream:`, `${tag}:log:`]
      const standing = [stream, log, `${tag}:dirty:`].map((start) => start + STANDING_STREAM)
      return { session, calls, stream, log, lasting: [session, calls, `${tag}:streams`, ...standing] }
    },
    replica: (id) => {
      const tag = `${prefix}{replica:${id}}`
      return { lease: `${tag}:lease`, inbox: `${tag}:inbox`, runs: `${tag}:runs`, claim: `${tag}:claim` }
    },
    directory: `${prefix}replicas`,
    topic: (topic) => `${prefix}topic:${digestOf(topic)}`,
    counter: (kind, key) => `${prefix}${kind}:${digestOf(key)}`,
    task: (owner, taskId) => taskOfDigest(digestOf(owner), taskId),
    taskOfDigest,
    tasksOf: (owner) => tasksOfDigest(digestOf(owner)),
    tasksOfDigest,
    tasksOfAccount: (account) => `${prefix}account:${digestOf(account)}`,
    allTasks: `${prefix}tasks`,
    taskBytes: (account) => {
      const tag = `${prefix}{bytes:${account === undefined ? '' : digestOf(account)}}`
      return { sizes: `${tag}:sizes`, ends: `${tag}:ends` }
    },
  }
}
