/** A server that a command connects to without the host in between. A configured server first passes the host's consent. */

import { userInfo } from 'node:os'
import { McpError } from '../../client/index.ts'
import { type Host, type HostOptions, type ServerSpec, withoutPlainSecrets } from '../../host/index.ts'
import type { Authorizer } from '../../http/client/index.ts'
import type { Invocation } from '../command-runner.ts'
import { UsageError } from '../errors.ts'
import { safe } from '../output/safe-text.ts'
import { describeTransport } from './configured.ts'
import { storagePath } from './host-files.ts'
import type { TargetOptions } from './options.ts'
import { describeTarget, type TargetName } from './target.ts'

export interface DirectServer<Options extends TargetOptions = TargetOptions> {
  /** For people. It contains no value from the vault. */
  title: string
  target: Exclude<TargetName, { kind: 'server' }>
  options: Options
  /** The logins of the host, for a configured server. */
  authorize?: Authorizer
  /** Removes secrets of a configured server from text that is stored. */
  scrub(text: string): string
}

export interface DirectOptions {
  /** Whether a login page may be opened. Default: true. */
  opensPages?: boolean
}

/** Calls `use` with the server. For a configured server the person is asked about the start, as usual, and its secrets are filled in. */
export async function withDirect<T, Options extends TargetOptions>(
  invocation: Invocation,
  target: TargetName,
  options: Options,
  use: (server: DirectServer<Options>) => Promise<T>,
  { opensPages = true }: DirectOptions = {},
): Promise<T> {
  if (target.kind !== 'server') return use({ title: describeTarget(target), target, options, scrub: (text) => text })
  refuseChanges(target.id, options)
  const { withHost } = await import('./open-host.ts')
  const { id } = target
  const hostOptions: Partial<HostOptions> = opensPages ? {} : { auth: await storedLogins(invocation) }
  return withHost(invocation, { only: [id], startsNothing: true, parks: options.inbox === true, options: hostOptions }, async (host) => {
    const spec = host.specs().find((each) => each.id === id) as ServerSpec
    const { screen, signal } = invocation
    const permitted = await host.permitDirect(id, { signal })
    screen.hideSecrets(permitted.scrub)
    screen.note(safe`${screen.noteStyle.dim(`Examining ${id} directly: ${describeTransport(withoutPlainSecrets(spec))}`)}`)
    return use({ title: id, ...directly(permitted, options), scrub: permitted.scrub })
  })
}

/** The person agrees to the configured command or address, so nothing on the command line may change it. */
function refuseChanges(id: string, { env, header, cwd }: TargetOptions): void {
  const given =
    Object.keys(env).length > 0 ? '--env' : Object.keys(header).length > 0 ? '--header' : cwd !== undefined ? '--cwd' : undefined
  if (given !== undefined)
    throw new UsageError(`${given} cannot change the configured server ${JSON.stringify(id)}`, 'Give its URL, or its command after --')
}

function directly<Options extends TargetOptions>(
  { transport, protocol, authorize }: Awaited<ReturnType<Host['permitDirect']>>,
  given: Options,
): Pick<DirectServer<Options>, 'target' | 'options' | 'authorize'> {
  const { revisions = [], httpTransport } = protocol
  const options = given.revision.length > 0 ? given : { ...given, revision: [...revisions] }
  if (transport.type === 'http')
    return {
      target: { kind: 'url', url: transport.url },
      options: { ...options, header: transport.headers, ...(httpTransport && { transport: httpTransport }) },
      ...(authorize && { authorize }),
    }
  if (transport.type === 'memory') throw new McpError('ERR_UNSUPPORTED', 'A server in this process has no address to connect to')
  const { command, args, env, cwd } = transport
  return { target: { kind: 'command', command, args }, options: { ...options, env, ...(cwd !== undefined && { cwd }) } }
}

/** Uses the tokens of earlier logins through the host, and never opens a page. */
async function storedLogins({ io, screen }: Invocation): Promise<NonNullable<HostOptions['auth']>> {
  const { oauth, fileTokenStore } = await import('../../auth/index.ts')
  const store = fileTokenStore({ folder: storagePath(io, 'tokens'), onWarning: (text) => screen.note(safe`! ${text}`) })
  return ({ transport }) => {
    const hasOwn = transport.type !== 'http' || Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization')
    if (hasOwn) return undefined
    return oauth({
      store,
      user: userInfo().username,
      about: { name: 'Portico' },
      openBrowser: () => {
        throw new McpError('ERR_AUTH', 'The server requires a login', { data: { reason: 'browser' } })
      },
    })
  }
}
