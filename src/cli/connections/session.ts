/** One server as commands use it: connected directly, or through the host with its policy, questions and log. */

import type { CallOptions, CallToolResult, Client, GetPromptResult, Prompt, ReadResourceResult, Tool } from '../../client/index.ts'
import type { Host, HostTask } from '../../host/index.ts'
import type { Invocation } from '../command-runner.ts'
import { withClient } from './connect.ts'
import { withDirect } from './direct.ts'
import type { ResourceListing } from './listings.ts'
import type { TargetOptions } from './options.ts'
import type { TargetName } from './target.ts'

type UseOptions = Pick<CallOptions, 'signal' | 'onProgress'>

export interface Session {
  /** For people. */
  readonly title: string
  tools(): Promise<readonly Tool[]>
  /** The server of a tool that exists, but awaits approval. */
  withheldBy?(name: string): string | undefined
  resources(): Promise<ResourceListing>
  prompts(): Promise<readonly Prompt[]>
  call(name: string, args: Record<string, unknown>, options: UseOptions): Promise<CallToolResult>
  /** Undefined without a host, which stores tasks. */
  callTask?(name: string, args: Record<string, unknown>, options: UseOptions): Promise<HostTask>
  read(uri: string, options: UseOptions): Promise<ReadResourceResult>
  prompt(name: string, args: Record<string, string>, options: UseOptions): Promise<GetPromptResult>
}

/** Connects, runs `use`, and always closes. */
export async function withSession<T>(
  invocation: Invocation,
  target: TargetName,
  options: TargetOptions,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  if (target.kind !== 'server') {
    const { personalAnswers } = await import('../terminal/answers.ts')
    return withDirect(invocation, target, options, async (server) =>
      withClient(invocation, server, (client) => use(clientSession(client)), { answer: await personalAnswers(invocation, server.title) }),
    )
  }
  const { withHost } = await import('./open-host.ts')
  return withHost(invocation, { only: [target.id], parks: options.inbox === true }, (host) => use(hostSession(host, target.id)))
}

/** Lists are empty without the capability: asking the server would be an error. */
export function clientSession(client: Client): Session {
  const { info, capabilities } = client.server
  return {
    title: info.title ?? info.name,
    tools: async () => (capabilities.tools ? client.tools().all() : []),
    resources: async () => {
      if (!capabilities.resources) return { resources: [], resourceTemplates: [] }
      const [resources, resourceTemplates] = await Promise.all([client.resources().all(), client.resourceTemplates().all()])
      return { resources, resourceTemplates }
    },
    prompts: async () => (capabilities.prompts ? client.prompts().all() : []),
    call: (name, args, options) => client.call(name, args, options),
    read: (uri, options) => client.read(uri, options),
    prompt: (name, args, options) => client.prompt(name, args, options),
  }
}

export const isWithheld = (host: Host, id: string, tool: string): boolean =>
  host.review(id)?.items.some(({ kind, name }) => kind === 'tool' && name === tool) ?? false

/** Lists only approved definitions. Throws the reason if the server is not connected. */
function hostSession(host: Host, id: string): Session {
  const ours = <Entry extends { server: string; definition: unknown }>(entries: readonly Entry[]): Entry['definition'][] => {
    const health = host.health()[id]
    if (health?.state === 'refused') throw health.error
    if (health?.state === 'waiting' || health?.state === 'open-circuit') throw health.lastError
    return entries.filter(({ server }) => server === id).map(({ definition }) => definition)
  }
  return {
    title: id,
    tools: async () => ours(host.tools()),
    withheldBy: (name) => (isWithheld(host, id, name) ? id : undefined),
    resources: async () => ({ resources: ours(host.resources()), resourceTemplates: ours(host.templates()) }),
    prompts: async () => ours(host.prompts()),
    call: (name, args, options) => host.call({ server: id, name }, args, { ...options, as: 'person' }),
    callTask: (name, args, options) => host.callTask({ server: id, name }, args, { ...options, as: 'person' }),
    read: (uri, options) => host.read(uri, { ...options, as: 'person' }),
    prompt: (name, args, options) => host.prompt({ server: id, name }, args, { ...options, as: 'person' }),
  }
}
