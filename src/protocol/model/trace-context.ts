/** Trace context in `_meta`: `traceparent` and `tracestate` as in W3C Trace Context, `baggage` as in W3C Baggage. */

/** The trace that a request belongs to. */
export interface TraceContext {
  traceparent?: string
  /** Only together with `traceparent`. */
  tracestate?: string
  baggage?: string
}

/** The members of `_meta` that carry trace context. */
export const TRACE_KEYS = ['traceparent', 'tracestate', 'baggage'] as const

/** The maximum length of `tracestate` and `baggage`, in characters: W3C Baggage requires support for this much. */
export const MAX_TRACE_LENGTH = 8192
const MAX_TRACESTATE_MEMBERS = 32

/**
 * The valid part of the trace context in `source`; undefined when there is none. Invalid values are dropped, so that they
 * are never passed on.
 *
 * @param source `_meta`, or an object with the same members
 * @param onFault called with the reason for each value that is dropped
 */
export function readTrace(
  source: Readonly<Record<string, unknown>> | undefined,
  onFault: (fault: string) => void = () => {},
): TraceContext | undefined {
  const { traceparent, tracestate, baggage } = source ?? {}
  if (traceparent === undefined && tracestate === undefined && baggage === undefined) return undefined
  const trace: TraceContext = {}
  if (traceparent !== undefined) {
    if (isTraceparent(traceparent)) trace.traceparent = traceparent
    else onFault(`traceparent must be like 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, not ${shown(traceparent)}`)
  }
  if (tracestate !== undefined) {
    // Without a valid traceparent it belongs to no trace.
    if (trace.traceparent === undefined) onFault('tracestate needs a valid traceparent')
    else if (isTracestate(tracestate)) trace.tracestate = tracestate
    else
      onFault(
        `tracestate must be a list of at most ${MAX_TRACESTATE_MEMBERS} key=value pairs with different keys, not ${shown(tracestate)}`,
      )
  }
  if (baggage !== undefined) {
    if (isBaggage(baggage)) trace.baggage = baggage
    else onFault(`baggage must be a list of key=value pairs of at most ${MAX_TRACE_LENGTH} characters, not ${shown(baggage)}`)
  }
  for (const _ in trace) return trace
  return undefined
}

/** Whether an object has a member for trace context, valid or not. */
export const hasTrace = (source: Readonly<Record<string, unknown>>): boolean =>
  source.traceparent !== undefined || source.tracestate !== undefined || source.baggage !== undefined

// Versions after 00 may add fields at the end.
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/
const MAX_TRACEPARENT_LENGTH = 512

function isTraceparent(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_TRACEPARENT_LENGTH) return false
  const parts = TRACEPARENT.exec(value)
  return parts !== null && (parts[1] !== '00' || parts[2] === undefined)
}

const STATE_MEMBER =
  /^((?:[a-z0-9][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}))=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

function isTracestate(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_TRACE_LENGTH) return false
  const keys = new Set<string>()
  for (const member of membersOf(value)) {
    // Empty members are allowed, for senders that add to the list.
    if (member === '') continue
    const key = STATE_MEMBER.exec(member)?.[1]
    if (key === undefined || keys.has(key) || keys.size === MAX_TRACESTATE_MEMBERS) return false
    keys.add(key)
  }
  return keys.size > 0
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const OCTETS = '[\\x21\\x23-\\x2b\\x2d-\\x3a\\x3c-\\x5b\\x5d-\\x7e]*'
const BAGGAGE_PAIR = new RegExp(`^${TOKEN}[ \\t]*=[ \\t]*${OCTETS}$`)
const BAGGAGE_PROPERTY = new RegExp(`^${TOKEN}(?:[ \\t]*=[ \\t]*${OCTETS})?$`)

function isBaggage(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_TRACE_LENGTH) return false
  return membersOf(value).every((member) => {
    const [pair, ...properties] = member.split(';').map(trimmed)
    return BAGGAGE_PAIR.test(pair as string) && properties.every((property) => BAGGAGE_PROPERTY.test(property))
  })
}

const membersOf = (list: string): string[] => list.split(',').map(trimmed)

/** Removes spaces and tabs, the white space of HTTP lists. */
const trimmed = (text: string): string => text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '')

const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value) : `a ${typeof value}`
