/** Trace context of outgoing requests: what the program gives, checked, as metadata. */

import { asText } from '../base/as-text.ts'
import { hasTrace, readTrace, TRACE_KEYS, type TraceContext } from '../protocol/model/trace-context.ts'
import type { CallOptions, TraceSource } from './options.ts'

/**
 * The options of a call with its trace context in `meta`: that of the call, else that in its metadata, else that of the
 * connection. Values that are not valid are left out with a warning; they never stop a call.
 */
export function withTrace(options: CallOptions, source: TraceSource | undefined, onWarning: (message: string) => void): CallOptions {
  const { meta } = options
  const isInMeta = meta !== undefined && hasTrace(meta)
  if (!isInMeta && source === undefined && options.trace === undefined) return options
  const given = options.trace ?? (isInMeta ? meta : current(source, onWarning))
  const trace = readTrace(given as Record<string, unknown> | undefined, (fault) => onWarning(`Trace context is left out: ${fault}`))
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
    onWarning(`Trace context is left out: ${asText(error)}`)
    return undefined
  }
}
