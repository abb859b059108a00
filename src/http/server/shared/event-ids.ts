/** Event ids of shared sessions: the secret name of the session, the stream, and the position in it. */

const LONGEST = 256

export interface EventPlace {
  stream: string
  /** As the store gave it; empty before the first event. */
  position: string
}

export const eventIdOf = (name: string, stream: string, position: string): string => `${name}.${stream}.${position}`

/** Undefined for ids of other sessions, and for any other text. */
export function readEventId(id: string, name: string): EventPlace | undefined {
  if (id.length > LONGEST || !id.startsWith(`${name}.`)) return undefined
  const at = id.indexOf('.', name.length + 1)
  if (at < 0) return undefined
  const stream = id.slice(name.length + 1, at)
  return /^[A-Za-z0-9_-]+$/.test(stream) ? { stream, position: id.slice(at + 1) } : undefined
}
