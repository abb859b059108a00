/** Finding out which kind of server this is: ask as the newest client would, and fall back on any other answer. */

import type { Timer } from '../jsonrpc/clock.ts'
import { isObject, METHOD_NOT_FOUND, type Params } from '../jsonrpc/message.ts'
import { RemoteError } from '../jsonrpc/remote-error.ts'
import { requestJson } from '../jsonrpc/write.ts'
import { META } from '../protocol/base.ts'
import { McpError } from '../protocol/errors.ts'
import type { ServerCapabilities } from '../protocol/lifecycle.ts'
import { describeRevisions } from '../revisions/index.ts'
import { chooseStateless, isModernError, offerHandshake, offerStateless, versionsIn } from '../revisions/negotiate.ts'
import type { Revision } from '../revisions/revision.ts'
import { type ClientDialect, implementationIn, type ServerDescription, serverInfoIn } from './dialect/dialect.ts'
import { ClientSession } from './dialect/session.ts'
import { ClientStateless } from './dialect/stateless.ts'
import type { Settings } from './settings.ts'
import type { Wire } from './wire.ts'

/** Which kind a server turned out to be. */
export type Verdict = 'session' | 'stateless'

/** Keeps verdicts between connections; what it says is an assumption that may fail. */
export interface VerdictMemory {
  get(server: string): Verdict | undefined
  set(server: string, verdict: Verdict | undefined): void
}

const MAX_REMEMBERED = 1000

export function verdictMemory(): VerdictMemory {
  const verdicts = new Map<string, Verdict>()
  return {
    get: (server) => verdicts.get(server),
    set: (server, verdict) => {
      verdicts.delete(server)
      if (verdict === undefined) return
      const [oldest] = verdicts.keys()
      if (verdicts.size >= MAX_REMEMBERED && oldest !== undefined) verdicts.delete(oldest)
      verdicts.set(server, verdict)
    },
  }
}

export async function openDialect(wire: Wire, settings: Settings, expected: Verdict | undefined): Promise<ClientDialect> {
  const stateless = offerStateless(settings.supported)
  const handshake = offerHandshake(settings.supported)
  const opening = { timeoutMs: settings.limits.connectTimeoutMs }
  if (!stateless || (expected === 'session' && handshake)) return ClientSession.open(wire, settings, opening)
  const found: Found = {}
  const discovery = discover(wire, settings, stateless, found)
  if (!handshake) return statelessOf(await discovery, wire, settings)

  const early = await within(discovery, wire, settings)
  if (early === 'legacy') return ClientSession.open(wire, settings, opening).catch((error: unknown) => throwShared(error, found, settings))
  if (early !== 'silence') return statelessOf(early, wire, settings)
  // A server that is slow to start is not yet a legacy server: both questions stay open, the first answer counts.
  const given = new AbortController()
  const session = ClientSession.open(wire, settings, { ...opening, signal: given.signal })
  const late = await Promise.race([
    discovery,
    session.then(
      () => 'legacy' as const,
      () => discovery,
    ),
  ])
  if (late === 'legacy') return session
  given.abort()
  return statelessOf(late, wire, settings)
}

/** What the server said it speaks, when none of it is known here. */
interface Found {
  strange?: string[]
}

/** A server that has no handshake either, and said which versions it has, shares none with us. */
function throwShared(error: unknown, { strange }: Found, settings: Settings): never {
  const hasNoHandshake = error instanceof McpError && error.code === 'ERR_NO_ENDPOINT'
  const doesNotKnowIt = error instanceof RemoteError && error.code === METHOD_NOT_FOUND
  throw strange && (hasNoHandshake || doesNotKnowIt) ? versionFault(strange, settings, error) : error
}

interface Discovered {
  revision: Revision
  server: ServerDescription
}

/** Resolves with `legacy` for every answer that only a server with a handshake would give. */
async function discover(wire: Wire, settings: Settings, revision: Revision, found: Found, isRetry = false): Promise<Discovered | 'legacy'> {
  const meta = { [META.protocolVersion]: revision.version, [META.clientInfo]: settings.info, [META.clientCapabilities]: {} }
  wire.version = revision.version
  try {
    const result = await wire.request('server/discover', {}, (id) => requestJson(id, 'server/discover', { _meta: meta }), {
      timeoutMs: settings.limits.connectTimeoutMs,
    })
    const chosen = chooseStateless(result.supportedVersions, settings.supported)
    if (chosen) return { revision: chosen, server: describe(result) }
    found.strange = versionsIn({ supported: result.supportedVersions })
    return 'legacy'
  } catch (error) {
    if (error instanceof McpError && error.code === 'ERR_NO_ENDPOINT') return 'legacy'
    if (!(error instanceof RemoteError)) throw error
    if (!isModernError(error.code)) return 'legacy'
    const theirs = versionsIn(error.data)
    const other = chooseStateless(theirs, settings.supported)
    // A server may refuse the very version it lists, when it has just been started or updated: once more, then no more.
    if (other && !isRetry) return discover(wire, settings, other, found, true)
    if (
      other === undefined &&
      theirs &&
      settings.supported.some(({ version, dialect }) => dialect === 'session' && theirs.includes(version))
    )
      return 'legacy'
    throw versionFault(theirs, settings, error)
  }
}

function versionFault(theirs: readonly string[] | undefined, settings: Settings, cause: unknown): McpError {
  const message = `The server speaks ${theirs?.join(', ') ?? 'another revision'}; this client speaks ${describeRevisions(settings.supported)}`
  return new McpError('ERR_VERSION_UNSUPPORTED', message, { cause })
}

function statelessOf(discovered: Discovered | 'legacy', wire: Wire, settings: Settings): ClientStateless {
  if (discovered !== 'legacy') return new ClientStateless(wire, settings, discovered.revision, discovered.server)
  throw new McpError('ERR_VERSION_UNSUPPORTED', `The server does not speak ${describeRevisions(settings.supported)}; it wants a handshake`)
}

function describe(result: Params): ServerDescription {
  const { capabilities, instructions } = result
  return {
    // Drafts of the revision had it beside the capabilities.
    info: serverInfoIn(result) ?? implementationIn(result.serverInfo) ?? { name: 'unnamed', version: '' },
    capabilities: isObject(capabilities) ? (capabilities as ServerCapabilities) : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  }
}

/** What `discovery` gives, or that it gave nothing in the time a probe has. */
async function within<T>(discovery: Promise<T>, wire: Wire, { clock, limits }: Settings): Promise<T | 'silence'> {
  let timer: Timer | undefined
  const silence = new Promise<'silence'>((resolve) => {
    const wait = (): void => {
      // A server that wants a person to log in is not silent.
      timer = clock.after(limits.probeTimeoutMs, () => (wire.isHeld ? wait() : resolve('silence')))
      timer.hold(true)
    }
    wait()
  })
  try {
    return await Promise.race([discovery, silence])
  } finally {
    timer?.cancel()
  }
}
