/** How events change the state of the page. */

import type { ChatPartView, ConsoleEvents, OperationView, QuestionEnd, QuestionView } from '../../../src/console/api.ts'
import {
  type ConsoleState,
  MAX_CHAT_PARTS,
  MAX_CHATS,
  MAX_NOTICES,
  MAX_OPERATIONS,
  type Notice,
  type WaitingQuestion,
} from './console-state.ts'
import type { ConsoleEvent } from './event.ts'
import { foreignName } from './foreign-text.ts'
import { counted } from './format.ts'

/** @param now milliseconds since 1970 */
export function reduce(state: ConsoleState, event: ConsoleEvent, now: number): ConsoleState {
  switch (event.name) {
    case 'question': {
      const { id, title = '', server = '', action } = event.data
      return withQuestion(state, { id, title, server, action, shownAt: now })
    }
    case 'question-end':
      return withEnd(state, event.data)
    case 'operation':
      return withOperation(state, event.data)
    case 'chat':
      return withChatPart(state, event.data.operation, event.data.part)
    case 'enabled':
      return { ...withNotice(state, enabledNotice(event.data)), announced: new Set([...state.announced, event.data.server]) }
    case 'warning': {
      const { text, server } = event.data
      return withNotice(state, { tone: 'waiting', text, ...(server !== undefined && { server }) })
    }
    default:
      return state
  }
}

/** `weather is ready: 5 tools, 2 resources enabled. 1 item needs a look.` */
function enabledNotice({ server, tools, prompts, resources, held }: ConsoleEvents['enabled']): Omit<Notice, 'id'> {
  const parts: readonly [number, string][] = [
    [tools, 'tool'],
    [resources, 'resource'],
    [prompts, 'prompt'],
  ]
  const enabled = parts.flatMap(([count, noun]) => (count === 0 ? [] : [counted(count, noun)]))
  const look = held === 0 ? '' : ` ${counted(held, 'item')} ${held === 1 ? 'needs' : 'need'} a look.`
  const text = `${foreignName(server)} is ready: ${enabled.length === 0 ? 'nothing' : enabled.join(', ')} enabled.${look}`
  return { tone: 'fine', text, server, ...(held > 0 && { hasReview: true }) }
}

function withQuestion(state: ConsoleState, question: WaitingQuestion): ConsoleState {
  if (state.questions.some(({ id }) => id === question.id)) return state
  return { ...state, questions: [...state.questions, question] }
}

/** The whole list, after a reconnect. Questions that are no longer in it are gone; the others keep the time of their appearance. */
export function withQuestions(state: ConsoleState, views: readonly QuestionView[], now: number): ConsoleState {
  const known = new Map(state.questions.map((each) => [each.id, each]))
  const waiting = views.map((fresh): WaitingQuestion => {
    const { id, action, server } = fresh.question
    const before = known.get(id)
    // A question does not change. The known one may be whole.
    const view = before?.view ?? fresh
    const title = view.lines[0]?.text ?? ''
    return {
      id,
      title,
      server: server.id,
      action,
      view,
      shownAt: before?.shownAt ?? now,
      ...(before?.isAnswering && { isAnswering: true }),
    }
  })
  const ended = state.questions.filter(({ id, end }) => end !== undefined && !views.some(({ question }) => question.id === id))
  return { ...state, questions: [...ended, ...waiting] }
}

/** A question with its details. */
export function withQuestionView(state: ConsoleState, view: QuestionView, now: number): ConsoleState {
  return change(state, view.question.id, (each) => ({
    ...each,
    // The quiet time begins when the person can read it.
    ...(each.view === undefined && { shownAt: now }),
    view,
    title: view.lines[0]?.text ?? each.title,
  }))
}

function withEnd(state: ConsoleState, end: QuestionEnd): ConsoleState {
  return change(state, end.id, (each) => ({ ...each, end }))
}

export const withAnswering = (state: ConsoleState, id: string, isAnswering: boolean): ConsoleState =>
  change(state, id, (each) => ({ ...each, isAnswering }))

export const withoutQuestion = (state: ConsoleState, id: string): ConsoleState => ({
  ...state,
  questions: state.questions.filter((each) => each.id !== id),
})

function change(state: ConsoleState, id: string, how: (question: WaitingQuestion) => WaitingQuestion): ConsoleState {
  if (!state.questions.some((each) => each.id === id)) return state
  return { ...state, questions: state.questions.map((each) => (each.id === id ? how(each) : each)) }
}

/** Events can be late: an operation that has ended does not run again. */
export function withOperation(state: ConsoleState, operation: OperationView): ConsoleState {
  const before = state.operations.find(({ id }) => id === operation.id)
  if (before && before.state !== 'running' && operation.state === 'running') return state
  const others = state.operations.filter(({ id }) => id !== operation.id)
  const operations = before
    ? state.operations.map((each) => (each.id === operation.id ? { ...before, ...operation } : each))
    : [operation, ...others]
  return { ...state, operations: operations.slice(0, MAX_OPERATIONS) }
}

export const withOwnOperation = (state: ConsoleState, id: string): ConsoleState => ({ ...state, own: new Set([...state.own, id]) })

function withChatPart(state: ConsoleState, operation: string, part: ChatPartView): ConsoleState {
  const parts = state.chats[operation] ?? []
  const last = parts.at(-1)
  // The pieces of a text become one text.
  const next =
    part.type === 'text' && last?.type === 'text'
      ? [...parts.slice(0, -1), { ...last, text: last.text + part.text }]
      : [...parts, part].slice(-MAX_CHAT_PARTS)
  const chats = { ...state.chats, [operation]: next }
  const names = Object.keys(chats)
  if (names.length > MAX_CHATS) delete (chats as Record<string, unknown>)[names[0] as string]
  return { ...state, chats }
}

let lastNotice = 0

export function withNotice(state: ConsoleState, notice: Omit<Notice, 'id'>): ConsoleState {
  lastNotice++
  return { ...state, notices: [...state.notices, { ...notice, id: lastNotice }].slice(-MAX_NOTICES) }
}

export const withoutNotice = (state: ConsoleState, id: number): ConsoleState => ({
  ...state,
  notices: state.notices.filter((each) => each.id !== id),
})
