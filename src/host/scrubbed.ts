/** What comes from servers and may repeat what they were given at their start: it leaves the host without that. */

import type { HostEvent } from './options.ts'
import type { Health } from './servers/health.ts'
import type { ServerLog } from './servers/log-gate.ts'
import type { Redactor } from './vault/redactor.ts'

/** The same error: who catches it may look for its class, its code and its data. */
export function scrubbedError<E>(error: E, { scrub }: Redactor): E {
  if (error instanceof Error) error.message = scrub(error.message)
  return error
}

export function scrubbedHealth(health: Health, secrets: Redactor): Health {
  if (health.state === 'refused') scrubbedError(health.error, secrets)
  if (health.state === 'waiting' || health.state === 'open-circuit') scrubbedError(health.lastError, secrets)
  return health
}

export function scrubbedEvent(event: HostEvent, secrets: Redactor): HostEvent {
  switch (event.kind) {
    case 'warning':
      return { ...event, text: secrets.scrub(event.text) }
    case 'health':
      return { ...event, health: scrubbedHealth(event.health, secrets) }
    case 'log':
      return { ...event, log: scrubbedLog(event.log, secrets) }
    default:
      return event
  }
}

function scrubbedLog(log: ServerLog, { scrub }: Redactor): ServerLog {
  if (log.kind === 'stderr') return { ...log, line: scrub(log.line) }
  // Through its text: secrets may stand anywhere in what a server logs, and have no quotes to be broken.
  return { ...log, message: JSON.parse(scrub(JSON.stringify(log.message))) as typeof log.message }
}
