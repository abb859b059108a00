/** Servers as pages see them: without secrets. */

import type { Clock } from '../base/clock.ts'
import { type Health, type Host, McpError, type ServerSpec, serverFile, withoutPlainSecrets } from '../host/index.ts'
import type { ConfigProblemView, HealthView, ServerDetails, ServerFacts, ServerSettings, ServerView, TransportView } from './api.ts'

/** @throws McpError ERR_SERVER_UNKNOWN */
export function specOf(host: Host, id: string): ServerSpec {
  const specs = host.specs()
  const found = specs.find((spec) => spec.id === id)
  if (found) return found
  const names = specs.map((spec) => spec.id).join(', ') || 'none'
  throw new McpError('ERR_SERVER_UNKNOWN', `No server ${JSON.stringify(id)} is configured; there are: ${names}`)
}

export function healthView(health: Health | undefined, clock: Clock): HealthView {
  if (!health) return { state: 'closed' }
  const error = 'error' in health ? health.error : 'lastError' in health ? health.lastError : undefined
  return {
    state: health.state,
    ...(error && { error: errorView(error) }),
    ...('retryAt' in health && { retryInMs: Math.max(0, Math.ceil(health.retryAt - clock.now())) }),
    ...('missedPings' in health && { missedPings: health.missedPings }),
  }
}

function errorView(error: Error): NonNullable<HealthView['error']> {
  if (!(error instanceof McpError)) return { message: error.message }
  const isByPerson = (error.data as { by?: unknown } | undefined)?.by === 'person'
  return { message: error.message, code: error.code, ...(isByPerson && { isByPerson }) }
}

export function serverView(host: Host, spec: ServerSpec, clock: Clock): ServerView {
  const { id, title, tier, isDisabled, provenance, labels = [] } = spec
  const revision = host.connection(id)?.revision
  const own = ({ server }: { server: string }): boolean => server === id
  return {
    id,
    ...(title !== undefined && { title }),
    transport: transportView(spec),
    tier,
    isEnabled: isDisabled !== true,
    from: provenance,
    labels,
    health: healthView(host.health()[id], clock),
    ...(revision !== undefined && { revision }),
    counts: {
      tools: host.tools().filter(own).length,
      prompts: host.prompts().filter(own).length,
      resources: host.resources().filter(own).length,
      templates: host.templates().filter(own).length,
    },
    ...waitingOf(host, id),
  }
}

function waitingOf(host: Host, id: string): Pick<ServerView, 'waiting' | 'changed'> {
  const items = host.review(id)?.items ?? []
  if (items.length === 0) return { waiting: 0, changed: 0 }
  const approved = host.pins.list().find(({ server }) => server === id)?.items ?? []
  const known = new Set(approved.map(({ kind, name }) => `${kind} ${name}`))
  const changed = items.filter(({ kind, name, difference }) => difference !== undefined || known.has(`${kind} ${name}`))
  return { waiting: items.length, changed: changed.length }
}

export async function serverDetails(host: Host, id: string, clock: Clock): Promise<ServerDetails> {
  const spec = specOf(host, id)
  const review = host.review(id)
  const facts = factsView(host, id)
  const { servers } = await serverFile(host.folder).list()
  return {
    ...serverView(host, spec, clock),
    ...(facts && { facts }),
    ...(review && { review }),
    notOffered: host.notOffered(id),
    roots: host.rootsOf(id),
    budget: await host.budgetLeft(id),
    settings: settingsView(spec),
    isStored: servers.some((stored) => stored.id === id),
    isLoggedIn: host.isLoggedIn(id),
    ...(host.policy.file !== undefined && { isBeingWritten: isBeingWritten(host, id) }),
  }
}

/** The id of the user's rule for a server that they write. */
export const writingRuleOf = (id: string): string => `writing-${id}`

/** Whether the switch of its author is on. */
export const isBeingWritten = (host: Pick<Host, 'policy'>, id: string): boolean =>
  host.policy.current().policy.layers.user?.some((rule) => rule.id === writingRuleOf(id) && rule.effect === 'allow') === true

function factsView(host: Host, id: string): ServerFacts | undefined {
  const connection = host.connection(id)
  if (!connection) return undefined
  const { instructions, capabilities, ...facts } = connection
  return { ...facts, capabilities: { ...capabilities }, ...(instructions !== undefined && { instructions }) }
}

function settingsView(spec: ServerSpec): ServerSettings {
  const { title, tier, labels = [], timeoutMs, roots = [], revisions, httpTransport } = spec
  const { transport } = withoutPlainSecrets(spec)
  return {
    ...(title !== undefined && { title }),
    tier,
    labels,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(transport.type === 'stdio' && { command: transport.command, args: transport.args, env: transport.env }),
    ...(transport.type === 'stdio' && transport.cwd !== undefined && { cwd: transport.cwd }),
    ...(transport.type === 'http' && { url: transport.url, headers: transport.headers }),
    roots,
    ...(revisions && { revisions }),
    ...(httpTransport && { httpTransport }),
  }
}

/** Values that look like secrets are replaced by their length. */
export function transportView(spec: ServerSpec): TransportView {
  const { transport } = withoutPlainSecrets(spec)
  switch (transport.type) {
    case 'stdio': {
      const { command, args, env, cwd } = transport
      return { type: 'stdio', command, args, env, ...(cwd !== undefined && { cwd }) }
    }
    case 'http':
      return { type: 'http', url: transport.url, headerNames: Object.keys(transport.headers) }
    case 'memory':
      return { type: 'memory' }
  }
}

export const problemViews = (problems: readonly ConfigProblemView[]): ConfigProblemView[] =>
  problems.map(({ file, where, text }) => ({ file, where, text }))
