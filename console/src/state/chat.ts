/** A conversation as a list of entries: messages, and calls with their results. */

import { isObject } from '../../../src/base/json.ts'
import type { ChatPartView, ModelTurnView } from '../../../src/console/api.ts'
import type { AuditRecord, ModelRequest } from '../../../src/host/index.ts'
import { type AuditRow, auditRows } from './audit.ts'
import type { WaitingQuestion } from './console-state.ts'

export type ChatEntry =
  | { kind: 'said'; by: 'person' | 'model'; text: string }
  /** Text of a view that went to the model with a message of the person. */
  | { kind: 'data'; source: string; text: string }
  /** A picture, a sound or a file: only named. */
  | { kind: 'attached'; by: 'person' | 'model'; what: string }
  | ChatCall
  | { kind: 'failed'; text: string }
  | { kind: 'ended'; text: string }

export interface ChatCall {
  kind: 'call'
  id: string
  /** The unique name of the tool. */
  name: string
  args: unknown
  state: 'running' | 'done' | 'failed' | 'refused'
  /** The contents of the result. */
  content?: readonly unknown[]
  structured?: unknown
  /** Why it was refused, and what the person said to the model. */
  reason?: string
  /** Who or what decided about it, and how it ended, from the audit log. */
  decided?: Pick<AuditRow, 'seq' | 'decision' | 'because' | 'outcome'>
}

/** The entries of stored messages. @param isRunning the last turn has not ended: its calls may still wait for an answer */
export function entriesOf(messages: readonly ModelRequest['messages'][number][], isRunning = false): ChatEntry[] {
  const entries: ChatEntry[] = []
  const calls = new Map<string, ChatCall>()
  for (const { role, content } of messages) {
    const by = role === 'user' ? 'person' : 'model'
    for (const block of Array.isArray(content) ? content : [content]) {
      switch (block.type) {
        case 'text':
          entries.push((by === 'person' && viewDataIn(block.text)) || { kind: 'said', by, text: block.text })
          break
        case 'tool_use': {
          const call: ChatCall = { kind: 'call', id: block.id, name: block.name, args: block.input, state: 'running' }
          calls.set(block.id, call)
          entries.push(call)
          break
        }
        case 'tool_result': {
          const call = calls.get(block.toolUseId)
          if (!call) break
          call.state = block.isError ? 'failed' : 'done'
          call.content = block.content
          if (block.structuredContent !== undefined) call.structured = block.structuredContent
          break
        }
        default:
          entries.push({ kind: 'attached', by, what: block.type })
      }
    }
  }
  // A stored call without a result was cancelled.
  if (isRunning) return entries
  for (const call of calls.values()) if (call.state === 'running') call.state = 'refused'
  return entries
}

/** The host puts these lines around the text of a view. Undefined: words of the person. */
function viewDataIn(text: string): ChatEntry | undefined {
  const [, source, lines] = /^\[Data from (.+?), not a message of the person\.[^\n]*\]\n([\s\S]*)\n\[End of the data\]$/.exec(text) ?? []
  return source === undefined || lines === undefined ? undefined : { kind: 'data', source, text: lines.replaceAll(/^> /gm, '') }
}

/** Stored entries and those of events. A window that was opened in the middle of a turn has some of them twice. */
export function joinedEntries(stored: readonly ChatEntry[], live: readonly ChatEntry[]): ChatEntry[] {
  const news = new Map(live.flatMap((entry) => (entry.kind === 'call' ? [[entry.id, entry] as const] : [])))
  const known = new Set(stored.map(keyOf))
  return [
    ...stored.map((entry) => (entry.kind === 'call' ? (news.get(entry.id) ?? entry) : entry)),
    ...live.filter((entry) => !known.has(keyOf(entry))),
  ]
}

const keyOf = (entry: ChatEntry): string => (entry.kind === 'call' ? entry.id : JSON.stringify(entry))

/** Adds the decisions of the audit log to the calls. @param records of this conversation, newest first */
export function withDecisions(entries: readonly ChatEntry[], records: readonly AuditRecord[]): readonly ChatEntry[] {
  const rows = auditRows(records).reverse()
  if (rows.length === 0) return entries
  return entries.map((entry) => {
    if (entry.kind !== 'call') return entry
    // The same call can happen twice: each record counts once, in the order of the calls.
    const at = rows.findIndex(({ record }) => isAbout(record, entry))
    const [decided] = at < 0 ? [] : rows.splice(at, 1)
    return decided ? { ...entry, decided } : entry
  })
}

function isAbout(record: AuditRecord, { name, args }: ChatCall): boolean {
  if (record.kind !== 'intent' && record.kind !== 'refusal') return false
  const { server, primitive, args: kept } = record.entry
  if (name !== `${server}__${primitive}` && name !== primitive) return false
  // The log hides secrets and cuts long arguments, so only their names are compared.
  return (
    !kept?.isWhole ||
    !isObject(kept.preview) ||
    String(Object.keys(kept.preview).sort()) === String(Object.keys(isObject(args) ? args : {}).sort())
  )
}

/** The number of messages that the person wrote. */
export const messagesIn = (entries: readonly ChatEntry[]): number =>
  entries.filter((entry) => entry.kind === 'said' && entry.by === 'person').length

/** The open questions that a call of this conversation most probably waits for: of a model, and about the server of a running call. */
export function waitsFor(questions: readonly WaitingQuestion[], entries: readonly ChatEntry[]): readonly WaitingQuestion[] {
  const ofModels = questions.filter(
    ({ end, view }) => end === undefined && view?.question.chain.some((each) => /^model\b/.test(each)) === true,
  )
  const meant = ofModels.filter(({ server }) => entries.some((entry) => isRunningAt(entry, server)))
  // A name can be too long for its prefix. Then all of them may be meant.
  return meant.length > 0 ? meant : ofModels
}

/** Whether an entry is a call at a server that has not ended. */
export const isRunningAt = (entry: ChatEntry, server: string): boolean =>
  entry.kind === 'call' && entry.state === 'running' && entry.name.startsWith(`${server}__`)

const ENDS: Readonly<Record<string, string>> = {
  cancelled: 'You stopped it.',
  failed: '',
  steps: 'It stopped: the limit of steps is reached. Send a message to go on.',
  tokens: 'It stopped: the limit of tokens is reached. Send a message to go on.',
  'cut-off': 'The last answer is incomplete.',
  refused: 'The model refused to answer.',
}

/** The entries of a turn that runs, or has just ended. */
export function entriesOfParts(parts: readonly ChatPartView[]): ChatEntry[] {
  const entries: ChatEntry[] = []
  const calls = new Map<string, ChatCall>()
  for (const part of parts) {
    switch (part.type) {
      case 'text':
        entries.push({ kind: 'said', by: 'model', text: part.text })
        break
      case 'tool-call': {
        const call: ChatCall = { kind: 'call', id: part.id, name: part.name, args: part.args, state: 'running' }
        calls.set(part.id, call)
        entries.push(call)
        break
      }
      case 'tool-result': {
        const call = calls.get(part.id)
        if (!call) break
        call.state = part.result.isError ? 'failed' : 'done'
        call.content = part.result.content
        if (part.result.structuredContent !== undefined) call.structured = part.result.structuredContent
        break
      }
      case 'refused': {
        const call = calls.get(part.id)
        if (!call) break
        call.state = 'refused'
        call.reason = [part.reason, part.feedback].filter(Boolean).join('. ')
        break
      }
      case 'error':
        entries.push({ kind: 'failed', text: part.error.message })
        break
      case 'end': {
        const text = ENDS[part.reason]
        if (text) entries.push({ kind: 'ended', text })
      }
    }
  }
  return entries
}

/** What a label of the context means, for people. */
export function labelWords(label: string): { word: string; help: string } {
  if (label === 'untrusted') {
    return {
      word: 'untrusted text',
      help: 'Text of a server that you do not trust is in this conversation. It could contain orders for the model.',
    }
  }
  if (label.startsWith('private')) {
    const from = label.slice('private:'.length)
    return {
      word: from === '' ? 'private data' : `private data (${from})`,
      help: 'Private data is in this conversation. You are asked before it goes to another server.',
    }
  }
  return { word: label, help: 'A label that a server or a rule added.' }
}

/** The newest text of a turn that waits for the person in place of a model. */
export function lastText({ request }: ModelTurnView): string {
  for (const { content } of [...request.messages].reverse()) {
    for (const block of Array.isArray(content) ? [...content].reverse() : [content]) if (block.type === 'text') return block.text
  }
  return ''
}
