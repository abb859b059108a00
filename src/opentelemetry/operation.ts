/** Runs a request inside of a span, and measures how long it takes. */

import {
  type Attributes,
  type Context,
  type Histogram,
  type Link,
  metrics,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { VERSION } from '../base/version.ts'
import { DURATION_BOUNDS, type Operation } from './attributes.ts'
import { guarded, runInside } from './guarded.ts'

/** How a request failed, in the words of the conventions. */
export interface Failure {
  /** The value of `error.type`. */
  type: string
  /** The code of the answer. */
  code?: number
  message?: string
  /** An error of a kind that nobody expected, to be recorded with its stack. */
  exception?: Error
  /** The conventions have one word for all tools that failed. A crash has the word of the records, too. */
  outcome?: 'tool_crash'
  /** For spans only: the number of different values is not limited. */
  reference?: string
}

export const TOOL_ERROR: Failure = { type: 'tool_error' }

/**
 * Stopped on purpose: by the conventions for errors this is none. The conventions for MCP have no word for it, so it has an attribute of
 * Portico, with the word of its records.
 */
interface Stopped {
  outcome: 'cancelled' | 'handed_over'
}

/** How something ended that was no success. */
export type Ending = Failure | Stopped

const isStopped = (ending: Ending): ending is Stopped => !('type' in ending)

export const CANCELLED: Stopped = { outcome: 'cancelled' }

const NAME = 'portico'

/** One for all: it finds the provider when it is used. */
const tracer: Tracer = trace.getTracer(NAME, VERSION)

const histograms = new Map<string, Histogram>()

/** Measures a duration. */
export function record(name: string, description: string, ms: number, attributes: Attributes): void {
  guarded('histogram.record', () => histogram(name, description).record(ms / 1000, attributes))
}

/** Created on first use, because a meter works only if its provider was registered before. */
function histogram(name: string, description: string): Histogram {
  let found = histograms.get(name)
  if (!found) {
    const advice = { explicitBucketBoundaries: DURATION_BOUNDS }
    found = metrics.getMeter(NAME, VERSION).createHistogram(name, { description, unit: 's', advice })
    histograms.set(name, found)
  }
  return found
}

/** Something that runs inside of a span. */
interface Spanned<T> {
  name: string
  options: SpanOptions
  parent: Context
  /** @param inside the context with the span */
  run(inside: Context): Promise<T>
  /** The failure that a result reports. */
  failureIn?(result: T): Failure | undefined
  endingOf(error: unknown): Ending
  /** Calls `end` when nobody waits for the result any more, which may never come. Returns a function that stops watching. */
  watch?(end: (ending: Ending) => void): () => void
  onEnd?(ending: Ending | undefined): void
}

/** The span is active while `run` runs, so that spans of the code inside become its children. */
export async function runInSpan<T>({ name, options, parent, run, ...spanned }: Spanned<T>): Promise<T> {
  const span = guarded('span.start', () => tracer.startSpan(name, options, parent))
  const inside = span ? trace.setSpan(parent, span) : parent
  let isOver = false
  const end = (ending: Ending | undefined): void => {
    if (isOver) return
    isOver = true
    if (span) guarded('span.end', () => endSpan(span, ending))
    spanned.onEnd?.(ending)
  }
  const unwatch = spanned.watch?.(end)
  try {
    const result = await runInside(inside, () => run(inside))
    end(spanned.failureIn?.(result))
    return result
  } catch (error) {
    end(spanned.endingOf(error))
    throw error
  } finally {
    unwatch?.()
  }
}

function endSpan(span: Span, ending: Ending | undefined): void {
  try {
    if (ending) mark(span, ending)
  } finally {
    span.end()
  }
}

function mark(span: Span, ending: Ending): void {
  span.setAttributes(attributesOf(ending))
  if (isStopped(ending)) return
  const { message, exception, reference } = ending
  if (reference !== undefined) span.setAttribute('portico.reference', reference)
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
  if (exception) span.recordException(exception)
}

export interface OperationOptions<T> extends Pick<Spanned<T>, 'parent' | 'run' | 'failureIn' | 'endingOf' | 'watch'> {
  kind: SpanKind.CLIENT | SpanKind.SERVER
  operation: Operation
  links?: Link[]
}

export function runOperation<T>({ kind, operation, links = [], ...spanned }: OperationOptions<T>): Promise<T> {
  const startedAt = performance.now()
  const { name, common, detail } = operation
  return runInSpan({
    ...spanned,
    name,
    options: { kind, links, attributes: { ...common, ...detail } },
    onEnd: (ending) => {
      const side = kind === SpanKind.CLIENT ? 'client' : 'server'
      const attributes = { ...common, ...(ending && attributesOf(ending)) }
      record(`mcp.${side}.operation.duration`, DESCRIPTIONS[side], performance.now() - startedAt, attributes)
    },
  })
}

const DESCRIPTIONS = {
  client: 'Time from sending a request to its answer.',
  server: 'Time from the arrival of a request to its answer.',
} as const

function attributesOf(ending: Ending): Attributes {
  if (isStopped(ending)) return { 'portico.outcome': ending.outcome }
  const { type, code, outcome } = ending
  return {
    'error.type': type,
    ...(code !== undefined && { 'rpc.response.status_code': String(code) }),
    ...(outcome && { 'portico.outcome': outcome }),
  }
}
