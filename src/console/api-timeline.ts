/** The values of the timeline and of recordings. */

/** What a message is. `invalid`: the server sent something that is no message. */
export type MessageKind = 'request' | 'result' | 'error' | 'notification' | 'invalid'

/** Which rows of the timeline to show. All given conditions must hold. */
export interface TimelineFilter {
  before?: number
  limit?: number
  server?: string
  method?: string
  kind?: MessageKind
  /** Only failed answers, or only messages with violations, or only answers that took at least `slowMs`. */
  only?: 'failed' | 'violations' | 'slow'
  slowMs?: number
  /** Text in the method or the name. */
  q?: string
}

/** A message between the host and a server, as a row of the timeline. */
export interface MessageView {
  /** Counts all messages since the console was opened, from 1. */
  seq: number
  /** Milliseconds since 1970. */
  at: number
  server: string
  /** Counts the connections of the host: after a restart of the server it is another one. */
  connection: number
  from: 'host' | 'server'
  kind: MessageKind
  /** The JSON-RPC id of a request or an answer. */
  id?: string | number
  /** The method. An answer has the method of its request. */
  method?: string
  /** The tool, the prompt or the URI that the message is about. */
  name?: string
  /** The negotiated protocol revision. Undefined before the handshake. */
  revision?: string
  /** The size of the message as JSON. */
  bytes: number
  /** In an answer: the `seq` of its request. */
  request?: number
  /** In an answer: the time since its request. */
  durationMs?: number
  /** In an answer: why it failed. A tool result with `isError` counts as failed. */
  failure?: string
  /** The `seq` of the request that this message belongs to: a question or a progress notice during a call. */
  during?: number
  /** How many rules of its revision the message breaks. The details list them. */
  violations?: number
}

/** A rule of the protocol that a message breaks. */
export interface Violation {
  /** JSON pointer into the message. */
  pointer: string
  /** What was expected and what came. */
  text: string
}

/** The HTTP request that carried a message. Secrets in headers are hidden. */
export interface HttpExchangeView {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  /** The names of headers of the configuration and of the login, which are sent but not shown. */
  hiddenHeaders: readonly string[]
  /** Undefined while there is no response. */
  status?: number
  responseHeaders?: Readonly<Record<string, string>>
}

/** A message with its contents. */
export interface MessageDetails extends Omit<MessageView, 'violations'> {
  /** Without secrets. Undefined: it was too large to keep. */
  message?: unknown
  http?: HttpExchangeView
  violations: readonly Violation[]
  /** In a request: the `seq` of its answer. */
  answer?: number
}

/** A part of the timeline, newest first. */
export interface TimelinePage {
  messages: readonly MessageView[]
  /** Give it as `before` for the next page. Undefined: there are no older messages. */
  next?: number
  /** How many older messages were removed to make room. */
  forgotten: number
}

/** A recording of the messages of one server: a transcript, as `portico record` writes it. */
export interface RecordingView {
  id: string
  /** Chosen by the person, or the name of the server and the time. */
  title: string
  /** The server, or what the heading of an opened file says. */
  target: string
  /** Milliseconds since 1970. */
  startedAt: number
  /** `empty`: it ended without a message, so it was not stored. `damaged`: the file cannot be read. It can be removed. */
  state: 'recording' | 'stored' | 'empty' | 'damaged'
  /** Recording stopped because it reached `maxRecordingBytes`. */
  isFull?: boolean
  messages: number
  bytes: number
}

/** A message of a recording. */
export interface RecordedMessage {
  /** Its number in the recording, from 0. */
  index: number
  from: 'client' | 'server'
  /** Milliseconds since the start of the recording. */
  atMs: number
  message: unknown
}

/** A member that differs. */
export interface DifferenceView {
  /** JSON pointer. */
  pointer: string
  before?: unknown
  after?: unknown
}

/** A request of a recording. */
export interface RecordedRequest {
  method: string
  name?: string
  params: unknown
  durationMs?: number
}

/** A request that was sent again, and how the answer differs from the recorded one. */
export interface ReplayedRequest extends RecordedRequest {
  differences: readonly DifferenceView[]
  /** How long the recorded answer took. */
  recordedMs?: number
}

/** The result of sending the requests of a recording to a server. */
export interface RecordingReplay {
  /** How many requests were sent. */
  asked: number
  /** How many were not: handshakes, subscriptions, rounds, and calls if they are left out. */
  leftOut: number
  changed: readonly ReplayedRequest[]
}

/** How two recordings differ. Requests are matched by method and parameters. */
export interface RecordingComparison {
  same: number
  added: readonly RecordedRequest[]
  removed: readonly RecordedRequest[]
  changed: readonly ReplayedRequest[]
  /** The answer is the same, but took at least twice as long and 50 ms longer. */
  slower: readonly { method: string; name?: string; beforeMs: number; afterMs: number }[]
}

/** A call as a test for Vitest. */
export interface TestView {
  text: string
  /** A name for the file. */
  file: string
  /** Environment variables to set: the values are secrets, and are not in the text. */
  secrets: readonly string[]
}
