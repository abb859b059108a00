/** Enables servers, several of them with one screen, and tells how each of them ended. */

import { orAborted } from '../../base/wait.ts'
import { type Health, type Host, McpError, type RefusalData } from '../../host/index.ts'
import { ownWords, typedCommand } from '../command-name.ts'
import type { Invocation } from '../command-runner.ts'
import { explainError } from '../errors.ts'
import type { ExitName } from '../exit-codes.ts'
import { safe } from '../output/safe-text.ts'
import { takeAnnounced } from './announced.ts'

/** Servers that wait for the person's answer before they start. */
export const notEnabled = (host: Host): string[] =>
  Object.entries(host.health()).flatMap(([id, { state }]) => (state === 'not-enabled' ? [id] : []))

/** Asks about these servers and starts them. `tellEnabled` tells how it ended. */
export async function enableServers({ signal }: Pick<Invocation, 'signal'>, host: Host, servers: readonly string[]): Promise<void> {
  if (servers.length > 0) await orAborted(host.enableAll(servers, { signal }), signal)
}

interface Failure {
  server: string
  error: Error
}

/** @returns `ok` if all are enabled, otherwise the exit of the first failure. @throws the error of a server that is alone and failed */
export function tellEnabled({ io, screen }: Invocation, host: Host, servers: readonly string[]): ExitName {
  const health = host.health()
  const failed = servers.flatMap((server): Failure[] => {
    const error = errorOf(server, health[server])
    return error ? [{ server, error }] : []
  })
  const [first] = failed
  if (!first) {
    // The line about the first offering of a server has said it already.
    const untold = servers.filter((server) => !takeAnnounced(host, server))
    if (untold.length > 0) screen.note(safe`${untold.join(', ')} ${untold.length === 1 ? 'is' : 'are'} enabled`)
    return 'ok'
  }
  if (servers.length === 1 && !isDeclined(first.error)) throw first.error
  if (failed.length > 1 && failed.every(({ error }) => error instanceof McpError && error.code === 'ERR_CONSENT'))
    throw new McpError('ERR_CONSENT', `Starting ${namesOf(failed)} needs your approval, and there is no terminal`)
  const declined = failed.filter(({ error }) => isDeclined(error))
  const { noteStyle: style } = screen
  for (const failure of failed)
    if (!declined.includes(failure))
      screen.note(safe`${style.red('✗')} ${ownWords(io, failure.error, explainError(failure.error).message).hanging(2)}`)
  if (declined.length > 0) {
    const again = typedCommand(io, `servers enable ${declined.map(({ server }) => server).join(' ')}`)
    screen.note(safe`Not enabled: ${namesOf(declined)}. To be asked again: ${again}`)
  }
  return explainError(first.error).exit
}

function errorOf(server: string, health: Health | undefined): Error | undefined {
  switch (health?.state) {
    case 'ready':
      return undefined
    case 'refused':
      return health.error
    case 'waiting':
    case 'open-circuit':
      return named(server, health.lastError)
    case 'not-enabled':
      // It was started and failed, and another start needs a question.
      if (health.lastError) return named(server, health.lastError)
      return new McpError('ERR_SERVER_DOWN', `The server ${JSON.stringify(server)} is not enabled`)
    default:
      return new McpError('ERR_SERVER_DOWN', `The server ${JSON.stringify(server)} is ${health?.state ?? 'not configured'}`)
  }
}

/** The same error with the name of the server, for the advice. */
function named(server: string, error: Error): Error {
  if (!(error instanceof McpError) || error.data !== undefined) return error
  return new McpError(error.code, error.message, { data: { server }, cause: error })
}

const namesOf = (failed: readonly Failure[]): string => failed.map(({ server }) => server).join(', ')

/** The person declined the server. This is printed as a note, not as an error. */
const isDeclined = (error: Error): boolean =>
  error instanceof McpError && error.code === 'ERR_DENIED' && (error.data as Partial<RefusalData> | undefined)?.by === 'person'
