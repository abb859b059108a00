/** Positions of events: the time in milliseconds and a number, as in Redis. */

export interface Position {
  ms: number
  n: number
}

export const textOf = ({ ms, n }: Position): string => `${ms}-${n}`

/** Undefined for any text that `textOf` does not produce. */
export function positionOf(text: string): Position | undefined {
  const [, ms, n] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? []
  return ms === undefined || n === undefined ? undefined : { ms: Number(ms), n: Number(n) }
}

/** Negative if `a` is earlier than `b`. */
export const compare = (a: Position, b: Position): number => a.ms - b.ms || a.n - b.n

export function following(last: Position | undefined, now: number): Position {
  if (!last || now > last.ms) return { ms: now, n: 0 }
  return { ms: last.ms, n: last.n + 1 }
}
