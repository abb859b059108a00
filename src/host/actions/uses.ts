/** What people and models do with servers, each through the gate: call a tool, read a resource, take a prompt. */

import { isObject } from '../../base/json.ts'
import type { Client } from '../../client/client.ts'
import type { CallOptions } from '../../client/options.ts'
import { McpError } from '../../protocol/errors.ts'
import type { CompleteParams, Completion } from '../../protocol/model/completion.ts'
import type { CallToolResult, Tool } from '../../protocol/model/tools.ts'
import { checkArguments, checkNames } from '../catalog/check-arguments.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import { proposePattern } from '../consent/grants/proposed-pattern.ts'
import { COMPLETION, PROMPT_RESULT, READ_RESULT, TOOL_RESULT } from '../conversation/flow/answers.ts'
import { destinationOf } from '../conversation/flow/destination.ts'
import { labelsOfResource, labelsOfResult, labelsOfWords } from '../conversation/flow/result-labels.ts'
import type { ActionPrimitive } from '../model/action.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import type { HostServices } from '../services/services.ts'
import { type UseOptions, useRequest } from './action-request.ts'
import { type Arriving, admitError, admitResult, heard, shownProgress, useThrough } from './admit-result.ts'

/** What came of a call: what the tool returned, or what failed and, as far as it was let in, what the server said about it. */
export type Called = { result: CallToolResult } | { error: unknown; said: CallToolResult }

export async function callTool(
  parts: HostServices,
  server: HostedServer,
  name: string,
  given: Readonly<Record<string, unknown>>,
  options: UseOptions,
): Promise<Called> {
  const { run, signal } = options
  await parts.pins.refresh()
  const tool = server.definition('tool', name) as Tool | undefined
  if (!tool) throw new McpError('ERR_SERVER_UNKNOWN', `The server ${server.id} offers no tool ${JSON.stringify(name)}`)
  // A copy: what is decided about is what is sent, whatever becomes of the caller's object.
  let args: Readonly<Record<string, unknown>> = structuredClone(given)
  await checkArguments(tool, args)
  const isOwn = options.initiator === 'user'
  const want: ActionRequest = {
    ...toolRequest(server, name, () => args, options),
    subject: async () => ({
      kind: 'call',
      tool,
      args,
      isOwn,
      pattern: proposePattern(args, { schema: tool.inputSchema, tier: server.spec.tier }),
      lastArgs: parts.lastArguments.of(server.id, name)?.args,
      wasOwn: parts.lastArguments.of(server.id, name)?.isOwn ?? false,
      destination: destinationOf(server.spec, tool, server.asserted(name)),
      origins: run.flow.originsOf(args),
      mayMissOrigins: run.flow.takeThinnedNotice(),
    }),
    edit: async (edited) => {
      if (!isObject(edited)) throw new McpError('ERR_INVALID_PARAMS', `Arguments are an object, not ${JSON.stringify(edited)}`)
      await checkArguments(tool, edited)
      args = edited
    },
  }
  const came = await useThrough(parts, want, options, ({ action, answer }) => {
    if (answer) parts.lastArguments.remember(server.id, name, { args, isOwn })
    const { onProgress, timeoutMs, maxTotalMs } = options
    const callOptions: CallOptions = {
      ...(signal && { signal }),
      ...(onProgress && { onProgress: (progress) => onProgress(shownProgress(parts, progress)) }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(maxTotalMs !== undefined && { maxTotalMs }),
    }
    return useOf(server, { kind: 'tool', name }, options, (client) => client.call(name, { ...action.args }, callOptions))
  })
  const arrival: Arriving = {
    kind: 'tool.result',
    primitive: { kind: 'tool', name },
    labels: (findings) => labelsOfResult(server.spec, tool, server.asserted(name), findings),
  }
  if ('error' in came) return { error: came.error, said: await admitError(parts, server, arrival, came, options) }
  return { result: await admitResult(parts, server, arrival, TOOL_RESULT, came, options) }
}

export async function readResource(
  parts: HostServices,
  server: HostedServer,
  uri: string,
  template: string | undefined,
  options: UseOptions,
) {
  const { signal } = options
  await parts.pins.refresh()
  const primitive = (): ActionPrimitive => resourcePrimitive(server, uri, template)
  const want: ActionRequest = {
    ...useRequest(server, 'resource.read', options, () => ({ primitive: primitive(), args: { uri } })),
    subject: () => ({ kind: 'read', uri, isSubscription: false }),
  }
  const came = await useThrough(parts, want, options, () =>
    useOf(server, primitive(), options, (client) => client.read(uri, signal ? { signal } : {})),
  )
  const { kind, name } = primitive()
  const labels: Arriving['labels'] = (findings) => labelsOfResource(server.spec, uri, findings)
  return heard(parts, server, { kind: 'resource.result', primitive: { kind, name }, source: uri, labels }, READ_RESULT, came, options)
}

/** Resolves with what ends the subscription. */
export async function subscribe(
  parts: HostServices,
  server: HostedServer,
  uri: string,
  template: string | undefined,
  listener: (uri: string) => void,
  options: UseOptions,
): Promise<() => void> {
  await parts.pins.refresh()
  const want: ActionRequest = {
    ...useRequest(server, 'resource.subscribe', options, () => ({ primitive: resourcePrimitive(server, uri, template), args: { uri } })),
    subject: () => ({ kind: 'read', uri, isSubscription: true }),
  }
  const came = await useThrough(parts, want, options, async () => {
    await server.checkPinned(resourcePrimitive(server, uri, template))
    return server.subscribe(uri, listener)
  })
  if (!('error' in came)) return came.value
  const { kind, name } = resourcePrimitive(server, uri, template)
  const labels: Arriving['labels'] = (findings) => labelsOfResource(server.spec, uri, findings)
  await admitError(parts, server, { kind: 'resource.result', primitive: { kind, name }, source: uri, labels }, came, options)
  throw came.error
}

export async function getPrompt(
  parts: HostServices,
  server: HostedServer,
  name: string,
  args: Readonly<Record<string, string>>,
  options: UseOptions,
) {
  const { signal } = options
  checkNames(`prompt ${JSON.stringify(name)}`, args)
  await parts.pins.refresh()
  const want: ActionRequest = {
    ...useRequest(server, 'prompt.get', options, () => ({ primitive: server.primitive('prompt', name), args })),
    subject: () => ({ kind: 'prompt', name, args, isOwn: options.initiator === 'user' }),
  }
  const came = await useThrough(parts, want, options, () =>
    useOf(server, { kind: 'prompt', name }, options, (client) => client.prompt(name, { ...args }, signal ? { signal } : {})),
  )
  const labels: Arriving['labels'] = (findings) => labelsOfWords(server.spec, findings)
  return heard(parts, server, { kind: 'prompt.result', primitive: { kind: 'prompt', name }, labels }, PROMPT_RESULT, came, options)
}

/** Suggestions for an argument while it is typed. It is not as much as the use that it is for, and takes as much to be allowed. */
export async function complete(
  parts: HostServices,
  server: HostedServer,
  params: CompleteParams,
  options: UseOptions,
): Promise<Completion> {
  const { signal } = options
  const { ref, argument, context } = params
  const [kind, name] = ref.type === 'ref/prompt' ? (['prompt', ref.name] as const) : (['template', ref.uri] as const)
  const args = { ...context?.arguments, [argument.name]: argument.value }
  checkNames(JSON.stringify(name), args)
  const want: ActionRequest = {
    ...useRequest(server, 'argument.complete', options, () => ({ primitive: server.primitive(kind, name), args })),
    subject: () => ({
      kind: 'complete',
      of: name,
      argument: argument.name,
      value: argument.value,
      isOwn: options.initiator === 'user',
    }),
  }
  const came = await useThrough(parts, want, options, () =>
    useOf(server, { kind, name }, options, (client) => client.complete(params, signal ? { signal } : {})),
  )
  // Nobody is asked about each suggestion while they type: it is labelled and cut, and no rule about results is about it.
  const labels: Arriving['labels'] = (findings) => labelsOfWords(server.spec, findings)
  return heard(parts, server, { kind: undefined, primitive: { kind, name }, labels }, COMPLETION, came, options)
}

export const toolRequest = (
  server: HostedServer,
  name: string,
  args: () => Readonly<Record<string, unknown>>,
  options: UseOptions,
): Omit<ActionRequest, 'subject'> =>
  useRequest(server, 'tool.call', options, () => ({ primitive: server.primitive('tool', name), args: args() }))

/** The server may have come back as another one since it was decided: its lists are known by the time there is a client. */
const useOf = <T>(
  server: HostedServer,
  primitive: Pick<ActionPrimitive, 'kind' | 'name'>,
  { run, signal }: UseOptions,
  send: (client: Client) => Promise<T>,
): Promise<T> =>
  server.during(run, () =>
    server.use(
      async (client) => {
        await server.checkPinned(primitive)
        return send(client)
      },
      signal ? { signal } : {},
    ),
  )

/** A resource that is not listed stands for itself, or for the template that it fits. */
const resourcePrimitive = (server: HostedServer, uri: string, template: string | undefined): ActionPrimitive =>
  template === undefined ? server.primitive('resource', uri) : server.primitive('template', template)
