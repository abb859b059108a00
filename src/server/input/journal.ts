/** The journal of a call: the answers and steps that the next round needs. The client carries it sealed. */

import { comparableJson } from '../../base/canonical-json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { KeyRing } from '../../protocol/interfaces/replaceable-services.ts'
import { seal, sha256, unseal } from './seal.ts'

export interface Journal {
  callId: string
  /** The number of rounds so far. */
  round: number
  /** Digests of the questions asked, by name. An answer counts only for exactly that question. */
  asked: Record<string, string>
  /** Accepted answers, as they came. */
  answers: Record<string, unknown>
  /** Values of finished steps. */
  steps: Record<string, unknown>
}

/** The request that a journal is bound to. It cannot be opened by another server, or with another caller, method, target or arguments. */
export interface JournalOwner {
  /** The name of the server: servers may have the same keys. */
  server: string
  principal: string | undefined
  method: string
  target: string | undefined
  arguments: unknown
}

/** The state travels with every round of a call, so a large one slows down each of them. */
const MAX_JOURNAL_CHARS = 64 * 1024

export interface JournalBounds {
  stateTtlMs: number
}

export const newJournal = (callId: string): Journal => ({ callId, round: 0, asked: {}, answers: {}, steps: {} })

export async function sealJournal(journal: Journal, owner: JournalOwner, keys: KeyRing, bounds: JournalBounds): Promise<string> {
  const text = JSON.stringify({ ...journal, expires: Date.now() + bounds.stateTtlMs })
  if (text.length > MAX_JOURNAL_CHARS) {
    throw new McpError(
      'ERR_LIMIT',
      `The answers and steps of this call take ${text.length} characters, more than ${MAX_JOURNAL_CHARS}; store large values yourself and keep only an id in ctx.once`,
    )
  }
  return seal(text, await bindingOf(owner), keys)
}

/** Throws the same ERR_STATE_INVALID for every problem, because a reason would only help a forger. Its cause is the reason, for the log. */
export async function openJournal(sealed: unknown, owner: JournalOwner, keys: KeyRing): Promise<Journal> {
  const opened = typeof sealed === 'string' ? await unseal(sealed, await bindingOf(owner), keys) : { fault: 'it is not text' }
  if ('fault' in opened) throw invalid(opened.fault)
  const { expires, ...journal } = JSON.parse(opened.text) as Journal & { expires: number }
  const lateMs = Date.now() - expires
  if (lateMs > 0) throw invalid(`it expired ${Math.ceil(lateMs / 1000)} s ago (limits.stateTtlMs)`)
  return journal
}

const invalid = (cause: string): McpError => new McpError('ERR_STATE_INVALID', 'Invalid or expired requestState', { cause })

export const digestOf = (request: unknown): Promise<string> => sha256(comparableJson(request))

const bindingOf = ({ server, principal, method, target, arguments: args }: JournalOwner): Promise<string> =>
  sha256(comparableJson([server, principal ?? null, method, target ?? null, args ?? null]))
