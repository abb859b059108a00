/** The state of a server in one word, with the reason and what a person can do. */

import type { ServerView } from '../../../src/console/api.ts'
import { counted, durationText } from './format.ts'

export type Tone = 'plain' | 'fine' | 'waiting' | 'danger'

export interface ServerState {
  word: 'ready' | 'starting' | 'off' | 'needs login' | 'changed' | 'to approve' | 'failed' | 'not enabled' | 'asks you'
  tone: Tone
  reason?: string
}

/** @param elapsedMs the time since the server was fetched, for the time of the next attempt */
export function serverState(
  { health, waiting, changed, isEnabled }: Pick<ServerView, 'health' | 'waiting' | 'changed' | 'isEnabled'>,
  elapsedMs = 0,
): ServerState {
  const reason = health.error?.message
  if (!isEnabled || health.state === 'disabled') return { word: 'off', tone: 'plain' }
  switch (health.state) {
    case 'ready':
      if (waiting > 0)
        return {
          word: changed > 0 ? 'changed' : 'to approve',
          tone: 'waiting',
          reason: `${counted(waiting, changed > 0 ? 'definition' : 'new definition')} ${waiting === 1 ? 'waits' : 'wait'} for your approval`,
        }
      if ((health.missedPings ?? 0) > 0)
        return { word: 'ready', tone: 'waiting', reason: `${counted(health.missedPings ?? 0, 'ping')} without an answer` }
      return { word: 'ready', tone: 'fine' }
    case 'permitting':
      return { word: 'asks you', tone: 'waiting', reason: 'It waits for your answer before it starts' }
    case 'connecting':
    case 'idle':
      return { word: 'starting', tone: 'waiting' }
    case 'not-enabled':
      return reason === undefined
        ? { word: 'not enabled', tone: 'plain', reason: 'It starts when you enable it' }
        : { word: 'failed', tone: 'danger', reason }
    case 'waiting':
    case 'open-circuit': {
      const again = health.retryInMs === undefined ? '' : `. ${attemptText(health.retryInMs - elapsedMs)}`
      return { word: 'failed', tone: 'danger', reason: `${reason ?? 'It does not answer'}${again}` }
    }
    case 'refused':
      if (health.error?.code === 'ERR_AUTH' || health.error?.code === 'ERR_LOGIN')
        return { word: 'needs login', tone: 'waiting', ...(reason !== undefined && { reason }) }
      if (health.error?.isByPerson) return { word: 'not enabled', tone: 'plain', reason: 'You said no. Enable it to be asked again' }
      return { word: 'failed', tone: 'danger', reason: reason ?? 'It was refused' }
    default:
      return { word: 'off', tone: 'plain' }
  }
}

/** Whether something that it offers waits for the person. */
export const isToReview = (word: ServerState['word']): boolean => word === 'changed' || word === 'to approve'

/** The button that asks about what waits. */
export const reviewText = ({ changed }: Pick<ServerView, 'changed'>): string => (changed > 0 ? 'Review changes' : 'Review what is new')

/** In whole seconds, because it counts down. */
const attemptText = (ms: number): string => (ms <= 0 ? 'The next attempt is now' : `Next attempt in ${Math.ceil(ms / 1_000)} s`)

/** How a server is started or reached, in one line. Nothing is cut. */
export function transportText(transport: ServerView['transport']): string {
  switch (transport.type) {
    case 'stdio':
      return [transport.command, ...transport.args].map(shown).join(' ')
    case 'http':
      return transport.url
    default:
      return 'part of this program'
  }
}

/** An argument with blanks or quotes is quoted, so that arguments can be told apart. */
const shown = (argument: string): string => (/^[\w@%+=:,./~-]+$/.test(argument) ? argument : JSON.stringify(argument))

/** `7 tools, 2 resources`. Empty if it offers nothing. */
export function countsText({ tools, prompts, resources, templates }: ServerView['counts']): string {
  const parts: [number, string][] = [
    [tools, 'tool'],
    [resources, 'resource'],
    [templates, 'template'],
    [prompts, 'prompt'],
  ]
  return parts
    .filter(([count]) => count > 0)
    .map(([count, noun]) => counted(count, noun))
    .join(', ')
}

/** The files that a server is configured in. Samples have none. */
export const namedFiles = (from: ServerView['from']): string[] => from.flatMap(({ file }) => (file === '' ? [] : [file]))

/** Where a server comes from, for people. */
export function originText(from: ServerView['from']): string {
  const [first] = from
  if (!first) return 'added by this program'
  if (first.file === '') return `sample of ${first.client}`
  return first.scope === 'ours' ? 'added by you' : `from ${first.client}`
}

/** Whether the settings of a server send a token in a header. */
export const hasToken = (headers: Readonly<Record<string, string>> = {}): boolean =>
  Object.keys(headers).some((name) => /^(?:proxy-)?authorization$|token|api-?key/i.test(name))

/** What to do about a server that refuses the person. */
export const loginAdvice = (isTokenSent: boolean): string =>
  isTokenSent
    ? 'the server refused the token that its settings send. Write a new one under Settings, Headers, or remove it and log in.'
    : 'log in. If the server gave you a token instead, write it under Settings, Headers, as Authorization: Bearer and the token.'

/** `within 12 ms.` Revisions without ping use another request. */
export const pingText = ({ ms, method }: { ms: number; method: string }, revision: string): string =>
  `within ${durationText(ms)}.${method === 'ping' ? '' : ` Revision ${revision} has no ping: ${method} was sent.`}`
