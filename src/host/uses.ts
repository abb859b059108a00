/** What people and models do with servers, each through the gate: call a tool, read a resource, take a prompt. */

import type { Client } from '../client/client.ts'
import type { CallOptions } from '../client/options.ts'
import { isObject } from '../jsonrpc/message.ts'
import type { CompleteParams, Completion } from '../protocol/completion.ts'
import { McpError } from '../protocol/errors.ts'
import type { GetPromptResult } from '../protocol/prompts.ts'
import type { ReadResourceResult } from '../protocol/resources.ts'
import type { CallToolResult, Tool } from '../protocol/tools.ts'
import { checkArguments, checkNames } from './arguments.ts'
import type { Finding } from './ask/question.ts'
import type { ActionKind, ActionPrimitive, Initiator } from './consent/action.ts'
import { destinationOf } from './flow/destination.ts'
import { capped, inspectResult } from './flow/result-gate.ts'
import { labelsOfResource, labelsOfResult } from './flow/result-labels.ts'
import type { Want } from './gate/gate.ts'
import { proposePattern } from './grants/proposed-pattern.ts'
import type { HostedServer } from './hosted-server.ts'
import type { HostParts } from './parts.ts'
import type { Run } from './run.ts'

export interface UseOptions extends Pick<CallOptions, 'signal' | 'onProgress' | 'timeoutMs' | 'maxTotalMs'> {
  run: Run
  initiator: Initiator
  /** Who wants it, from the person on, for people. */
  chain: readonly string[]
}

export async function callTool(
  parts: HostParts,
  server: HostedServer,
  name: string,
  given: Readonly<Record<string, unknown>>,
  options: UseOptions,
): Promise<CallToolResult> {
  const { run, signal } = options
  await parts.pins.refresh()
  const tool = server.definition('tool', name) as Tool | undefined
  if (!tool) throw new McpError('ERR_SERVER_UNKNOWN', `The server ${server.id} offers no tool ${JSON.stringify(name)}`)
  // A copy: what is decided about is what is sent, whatever becomes of the caller's object.
  let args: Readonly<Record<string, unknown>> = structuredClone(given)
  await checkArguments(tool, args)
  const isOwn = options.initiator === 'user'
  const want: Want = {
    ...toolWant(server, name, () => args, options),
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
    }),
    edit: async (edited) => {
      if (!isObject(edited)) throw new McpError('ERR_INVALID_PARAMS', `Arguments are an object, not ${JSON.stringify(edited)}`)
      await checkArguments(tool, edited)
      args = edited
    },
  }
  // What the rules about the call say of its result; rules about results may say less.
  let maxBytes = parts.maxResultBytes
  const result = await parts.gate.run(
    want,
    ({ action, answer, decision }) => {
      maxBytes = Math.min(maxBytes, decision.limits.resultBytes ?? maxBytes)
      if (answer) parts.lastArguments.remember(server.id, name, { args, isOwn })
      const { onProgress, timeoutMs, maxTotalMs } = options
      const callOptions: CallOptions = {
        ...(signal && { signal }),
        ...(onProgress && { onProgress }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(maxTotalMs !== undefined && { maxTotalMs }),
      }
      return useOf(server, { kind: 'tool', name }, options, (client) => client.call(name, { ...action.args }, callOptions))
    },
    (done) => ({ resultBytes: sizeOf(done) }),
  )
  return letIn(parts, server, tool, { result, maxBytes }, options).catch((error: unknown) => {
    // Whoever hears only of a refusal would take it that nothing was done, and do it again.
    if (!(error instanceof McpError)) throw error
    const { code, message, data } = error
    throw new McpError(code, `${server.id}/${name} was called and has answered, but its result is kept back: ${message}`, {
      data,
      cause: error,
    })
  })
}

/** A result, and how much of it may be let in. */
interface Came {
  result: CallToolResult
  maxBytes: number
}

/** A result is looked at before anybody sees it: how large it is, what is in it, and what it means for what comes next. */
async function letIn(parts: HostParts, server: HostedServer, tool: Tool, came: Came, options: UseOptions): Promise<CallToolResult> {
  const { run } = options
  const findings = inspectResult(came.result, { maxBytes: came.maxBytes })
  const admitted = await admit(parts, server, tool, came, findings, options)
  run.flow.add({
    labels: labelsOfResult(server.spec, tool, server.asserted(tool.name), findings),
    source: `${server.id}/${tool.name}`,
    value: admitted,
    at: parts.wallNow(),
  })
  return admitted
}

async function admit(
  parts: HostParts,
  server: HostedServer,
  tool: Tool,
  { result, maxBytes }: Came,
  findings: readonly Finding[],
  options: UseOptions,
): Promise<CallToolResult> {
  const safe = capped(result, { maxBytes })
  // Where nothing was found and no rule is about results, there is nothing to decide.
  if (findings.length === 0 && !parts.hasResultRules()) return safe
  const want: Want = {
    ...useWant(server, 'tool.result', options, () => ({
      primitive: server.primitive('tool', tool.name),
      args: { bytes: sizeOf(result), findings: findings.map(({ kind }) => kind), isError: result.isError === true },
    })),
    subject: () => ({ kind: 'result', tool: tool.name, result, findings }),
  }
  return parts.gate.run(want, async ({ decision }) => {
    const { resultBytes } = decision.limits
    return resultBytes === undefined ? safe : capped(result, { maxBytes: Math.min(resultBytes, maxBytes) })
  })
}

export async function readResource(parts: HostParts, server: HostedServer, uri: string, template: string | undefined, options: UseOptions) {
  const { signal, run } = options
  await parts.pins.refresh()
  const want: Want = {
    ...useWant(server, 'resource.read', options, () => ({ primitive: resourcePrimitive(server, uri, template), args: { uri } })),
    subject: () => ({ kind: 'read', uri, isSubscription: false }),
  }
  const result = await parts.gate.run<ReadResourceResult>(
    want,
    () => useOf(server, resourcePrimitive(server, uri, template), options, (client) => client.read(uri, signal ? { signal } : {})),
    (done) => ({ resultBytes: sizeOf(done) }),
  )
  run.flow.add({ labels: labelsOfResource(server.spec, uri), source: `${server.id}/${uri}`, value: result, at: parts.wallNow() })
  return result
}

/** Resolves with what ends the subscription. */
export async function subscribe(
  parts: HostParts,
  server: HostedServer,
  uri: string,
  template: string | undefined,
  listener: (uri: string) => void,
  options: UseOptions,
): Promise<() => void> {
  await parts.pins.refresh()
  const want: Want = {
    ...useWant(server, 'resource.subscribe', options, () => ({ primitive: resourcePrimitive(server, uri, template), args: { uri } })),
    subject: () => ({ kind: 'read', uri, isSubscription: true }),
  }
  return parts.gate.run(want, async () => {
    await server.checkPinned(resourcePrimitive(server, uri, template))
    return server.supervised.subscribe(uri, listener)
  })
}

export async function getPrompt(
  parts: HostParts,
  server: HostedServer,
  name: string,
  args: Readonly<Record<string, string>>,
  options: UseOptions,
) {
  const { signal, run } = options
  checkNames(`prompt ${JSON.stringify(name)}`, args)
  await parts.pins.refresh()
  const want: Want = {
    ...useWant(server, 'prompt.get', options, () => ({ primitive: server.primitive('prompt', name), args })),
    subject: () => ({ kind: 'prompt', name, args, isOwn: options.initiator === 'user' }),
  }
  const result = await parts.gate.run<GetPromptResult>(
    want,
    () => useOf(server, { kind: 'prompt', name }, options, (client) => client.prompt(name, { ...args }, signal ? { signal } : {})),
    (done) => ({ resultBytes: sizeOf(done) }),
  )
  run.flow.add({ labels: labelsOfResource(server.spec, name), source: `${server.id}/${name}`, value: result, at: parts.wallNow() })
  return result
}

/** Suggestions for an argument while it is typed. It is not as much as the use that it is for, and takes as much to be allowed. */
export async function complete(parts: HostParts, server: HostedServer, params: CompleteParams, options: UseOptions): Promise<Completion> {
  const { signal } = options
  const { ref, argument, context } = params
  const [kind, name] = ref.type === 'ref/prompt' ? (['prompt', ref.name] as const) : (['template', ref.uri] as const)
  const args = { ...context?.arguments, [argument.name]: argument.value }
  checkNames(JSON.stringify(name), args)
  const want: Want = {
    ...useWant(server, 'argument.complete', options, () => ({ primitive: server.primitive(kind, name), args })),
    subject: () => ({
      kind: 'complete',
      of: name,
      argument: argument.name,
      value: argument.value,
      isOwn: options.initiator === 'user',
    }),
  }
  return parts.gate.run(want, () => useOf(server, { kind, name }, options, (client) => client.complete(params, signal ? { signal } : {})))
}

export const toolWant = (
  server: HostedServer,
  name: string,
  args: () => Readonly<Record<string, unknown>>,
  options: UseOptions,
): Omit<Want, 'subject'> => useWant(server, 'tool.call', options, () => ({ primitive: server.primitive('tool', name), args: args() }))

function useWant(
  server: HostedServer,
  kind: ActionKind,
  { run, initiator, chain, signal }: UseOptions,
  now: () => { primitive?: ActionPrimitive; args: Readonly<Record<string, unknown>> },
): Omit<Want, 'subject'> {
  return {
    describe: () => {
      const { primitive, args } = now()
      const tool = primitive?.kind === 'tool' ? (server.definition('tool', primitive.name) as Tool | undefined) : undefined
      return {
        kind,
        run: run.id,
        turn: run.turn,
        initiator,
        server: server.facts,
        ...(primitive && { primitive }),
        claimed: tool?.annotations ?? {},
        asserted: primitive ? server.asserted(primitive.name) : {},
        args,
        labels: run.flow.labels,
        ...(run.flow.untrustedSince !== undefined && { untrustedSince: run.flow.untrustedSince }),
      }
    },
    server: server.shown,
    chain: [...chain, `server ${server.id}`],
    ...(signal && { signal }),
  }
}

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

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
