/** Runs a request inside of a span, and measures how long it takes. */

import {
  type Attributes,
  type Context,
  context,
  type Histogram,
  type Link,
  metrics,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { VERSION } from '../base/version.ts'
import { DURATION_BOUNDS, type Operation } from './attributes.ts'

/** How a request failed, in the words of the conventions. */
export interface Failure {
  /** The value of `error.type`. */
  type: string
  /** The code of the answer. */
  code?: number
  message?: string
  /** An error of a kind that nobody expected, to be recorded with its stack. */
  exception?: Error
}

export const TOOL_ERROR: Failure = { type: 'tool_error' }

const NAME = 'portico'

/** One for all: it finds the provider when it is used. */
export const tracer: Tracer = trace.getTracer(NAME, VERSION)

const histograms = new Map<string, Histogram>()

/** Created on first use, because a meter works only if its provider was registered before. */
export function histogram(name: string, description: string): Histogram {
  let found = histograms.get(name)
  if (!found) {
    const advice = { explicitBucketBoundaries: DURATION_BOUNDS }
    found = metrics.getMeter(NAME, VERSION).createHistogram(name, { description, unit: 's', advice })
    histograms.set(name, found)
  }
  return found
}

export interface OperationOptions<T> {
  kind: SpanKind.CLIENT | SpanKind.SERVER
  operation: Operation
  parent: Context
  links?: Link[]
  run(inside: Context): Promise<T>
  /** The failure that a result reports. */
  failureIn(result: T): Failure | undefined
  /** The failure for an error. */
  failureOf(error: unknown): Failure
}

/** The span is active while `run` runs, so that spans of the code inside become its children. */
export async function runOperation<T>({ kind, operation, parent, links = [], run, ...options }: OperationOptions<T>): Promise<T> {
  const startedAt = performance.now()
  const span = tracer.startSpan(operation.name, { kind, links, attributes: { ...operation.common, ...operation.detail } }, parent)
  const inside = trace.setSpan(parent, span)
  let failure: Failure | undefined
  try {
    const result = await context.with(inside, () => run(inside))
    failure = options.failureIn(result)
    return result
  } catch (error) {
    failure = options.failureOf(error)
    throw error
  } finally {
    const common = { ...operation.common, ...(failure && errorAttributes(failure)) }
    if (failure) markFailed(span, failure)
    span.end()
    const side = kind === SpanKind.CLIENT ? 'client' : 'server'
    histogram(`mcp.${side}.operation.duration`, DESCRIPTIONS[side]).record((performance.now() - startedAt) / 1000, common)
  }
}

const DESCRIPTIONS = {
  client: 'Time from sending a request to its answer.',
  server: 'Time from the arrival of a request to its answer.',
} as const

function errorAttributes({ type, code }: Failure): Attributes {
  return { 'error.type': type, ...(code !== undefined && { 'rpc.response.status_code': String(code) }) }
}

export function markFailed(span: Span, failure: Failure): void {
  const { message, exception } = failure
  span.setAttributes(errorAttributes(failure))
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
  if (exception) span.recordException(exception)
}
