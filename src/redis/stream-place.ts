/** Names the place of a sealed value of a stream. */

export const placeOf = (kind: 'event' | 'call' | 'step' | 'answer', sid: string, stream: string, name = ''): string =>
  `${kind} ${sid} ${stream} ${name}`
