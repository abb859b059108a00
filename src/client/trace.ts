/** Adds trace context to outgoing requests. */

import { asText } from '../base/as-text.ts'
import { hasTrace, readTrace, TRACE_KEYS, type TraceContext } from '../protocol/model/trace-context.ts'
import type { SentOptions, TraceSource } from './options.ts'

/**
 * The options of a call with trace context in `meta`: from the call's `trace`, otherwise from its metadata, otherwise from
 * the connection. Invalid values are dropped with a warning and never stop a call.
 */
export function withTrace(options: SentOptions, source: TraceSource | undefined, onWarning: (message: string) => void): SentOptions {
  const { meta } = options
  const isInMeta = meta !== undefined && hasTrace(meta)
  if (!isInMeta && source === undefined && options.trace === undefined) return options
  const given = options.trace ?? (isInMeta ? meta : current(source, onWarning))
  const trace = readTrace(given as Record<string, unknown> | undefined, (fault) => onWarning(`Trace context is dropped: ${fault}`))
  const { meta: _, ...rest } = options
  const merged: Record<string, unknown> = { ...meta }
  for (const key of TRACE_KEYS) delete merged[key]
  Object.assign(merged, trace)
  return Object.keys(merged).length === 0 ? rest : { ...rest, meta: merged }
}

function current(source: TraceSource | undefined, onWarning: (message: string) => void): TraceContext | undefined {
  if (typeof source !== 'function') return source
  try {
    return source()
  } catch (error) {
    onWarning(`Trace context is dropped: ${asText(error)}`)
    return undefined
  }
}
