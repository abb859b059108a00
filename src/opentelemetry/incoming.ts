/** Requests that this side answers: those that a server gets, and the questions that a client answers. */

import { propagation, SpanKind, trace } from '@opentelemetry/api'
import { onAbort } from '../base/on-abort.ts'
import type { Params } from '../jsonrpc/message.ts'
import { endOf } from '../protocol/end-of-request.ts'
import { Declined, ERRORS, McpError } from '../protocol/errors.ts'
import { isFaultOfCode, isForPeer, isSaidOnPurpose } from '../protocol/fault-of-code.ts'
import type { ReceivedRequest } from '../protocol/interfaces/telemetry.ts'
import { operationOf } from './attributes.ts'
import { activeContext, guarded } from './guarded.ts'
import { CANCELLED, type Ending, type Failure, runOperation, TOOL_ERROR } from './operation.ts'

/** A request, and how to hear that nobody waits for its answer any more. */
export interface StoppableRequest extends Omit<ReceivedRequest, 'signal'> {
  /** Calls `listener` with the reason. Returns a function that removes it. */
  onAborted(listener: (reason: unknown) => void): () => void
}

/**
 * Answers a request of a client inside of a span. The parent is the span of the sender.
 *
 * @param reference what the client gets in place of an error of the author's code
 */
export function runRequest(
  request: StoppableRequest,
  isKnown: boolean,
  reference: () => string,
  answer: () => Promise<Params>,
): Promise<Params> {
  return runIncoming(request, isKnown, answer, (error) => {
    const failure = failureOf(error, request.method)
    return isFaultOfCode(error, request.method) ? { ...failure, reference: reference() } : failure
  })
}

/** Answers a question of a server inside of a span. */
export function runQuestion(question: ReceivedRequest, answer: () => Promise<Params>): Promise<Params> {
  const { id, method, params, revision, trace, signal } = question
  const onAborted: StoppableRequest['onAborted'] = (listener) => onAbort(signal, () => listener(signal.reason))
  return runIncoming({ id, method, params, revision, trace, onAborted }, true, answer, refusalOf)
}

function runIncoming(
  request: StoppableRequest,
  isKnown: boolean,
  answer: () => Promise<Params>,
  failure: (error: unknown) => Failure,
): Promise<Params> {
  const operation = operationOf(request.method, request.params, request.revision, isKnown)
  operation.detail['jsonrpc.request.id'] = String(request.id)
  const ambient = activeContext()
  const parent = request.trace ? (guarded('propagation.extract', () => propagation.extract(ambient, request.trace)) ?? ambient) : ambient
  // A span of the transport is not the parent then. A link keeps the connection to it.
  const transport = trace.getSpanContext(ambient)
  const links = transport && trace.getSpanContext(parent)?.spanId !== transport.spanId ? [{ context: transport }] : []
  return runOperation({
    kind: SpanKind.SERVER,
    operation,
    parent,
    links,
    run: () => answer(),
    failureIn: (result) => (result.isError === true ? TOOL_ERROR : undefined),
    endingOf: failure,
    // The work may ignore its signal.
    watch: (end) =>
      request.onAborted((reason) => {
        const ending = endingFor(reason)
        if (ending) end(ending)
      }),
  })
}

/** How a request ended without an answer. Undefined: it still gets one. */
function endingFor(reason: unknown): Ending | undefined {
  const by = endOf(reason)
  if (by === undefined) return undefined
  if (by === 'sender') return CANCELLED
  return by === 'handed_over' ? { outcome: by } : { ...INTERNAL, message: (reason as Error).message }
}

const INTERNAL: Failure = { type: String(ERRORS.ERR_INTERNAL.rpc), code: ERRORS.ERR_INTERNAL.rpc }

function failureOf(error: unknown, method: string): Failure {
  if (isForPeer(error)) {
    const { rpc } = ERRORS[error.code]
    return { type: String(rpc), code: rpc, message: error.message }
  }
  const exception = error instanceof Error ? { exception: error } : {}
  // The client gets the failure of a tool as a result.
  if (method === 'tools/call') {
    if (isSaidOnPurpose(error, method)) return { ...TOOL_ERROR, message: error.message }
    return { ...TOOL_ERROR, ...exception, ...(isFaultOfCode(error, method) && { outcome: 'tool_crash' }) }
  }
  return { ...INTERNAL, ...exception }
}

/** What the server gets, as `ClientSession` maps it. */
function refusalOf(error: unknown): Failure {
  if (error instanceof Declined) return { type: '-1', code: -1, message: error.message }
  // Its text may contain what the person typed.
  if (error instanceof McpError && error.code === 'ERR_ANSWER_INVALID') return INTERNAL
  return failureOf(error, '')
}
