/** Everything that events tell a page between two requests. Lists of servers, tools and so on are fetched instead. */

import type { ChatPartView, OperationView, QuestionEnd, QuestionView } from '../../../src/console/api.ts'

export type ConnectionStatus = 'connecting' | 'live' | 'lost' | 'signed-out'

/** A question that waits, or that has just ended. */
export interface WaitingQuestion {
  id: string
  title: string
  server: string
  action: string
  /** Undefined until it is fetched. */
  view?: QuestionView
  /** Milliseconds since 1970 of this page: for the quiet time, and for the order. */
  shownAt: number
  /** Set once it has ended. It is shown for a moment, and then removed. */
  end?: QuestionEnd
  /** This window has sent an answer. */
  isAnswering?: boolean
}

/** Something that a person should know, without an answer. */
export interface Notice {
  id: number
  tone: 'plain' | 'fine' | 'waiting' | 'danger'
  text: string
  server?: string
  /** Its offering has something to look at. */
  hasReview?: boolean
}

export interface ConsoleState {
  connection: ConnectionStatus
  /** Oldest first. */
  questions: readonly WaitingQuestion[]
  /** Newest first, at most `MAX_OPERATIONS`. */
  operations: readonly OperationView[]
  /** Ids of operations that this window has started. A question that such an operation causes may open a dialog. */
  own: ReadonlySet<string>
  /** Parts of chats that run, by operation. */
  chats: Readonly<Record<string, readonly ChatPartView[]>>
  notices: readonly Notice[]
  /** Servers whose first offering is in use, except for what needs a look. That waits in the tray. */
  announced: ReadonlySet<string>
}

export const EMPTY_STATE: ConsoleState = {
  connection: 'connecting',
  questions: [],
  operations: [],
  own: new Set(),
  chats: {},
  notices: [],
  announced: new Set(),
}

/** How much a page keeps. */
export const MAX_OPERATIONS = 200
export const MAX_NOTICES = 5
export const MAX_CHATS = 20
export const MAX_CHAT_PARTS = 5_000
