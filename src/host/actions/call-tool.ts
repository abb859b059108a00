/** Calls a tool through the gate, for the person or a model. */

import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import { toolViewOf } from '../../protocol/model/apps.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import type { CallToolResult, Tool } from '../../protocol/model/tools.ts'
import { checkArguments } from '../catalog/check-arguments.ts'
import type { ActionRequest, RecordedPermit } from '../consent/gate/gate.ts'
import { proposePattern } from '../consent/grants/proposed-pattern.ts'
import { TOOL_RESULT } from '../conversation/flow/answers.ts'
import { destinationOf, isOutsideByTier } from '../conversation/flow/destination.ts'
import { labelsOfResult } from '../conversation/flow/result-labels.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { type UseOptions, useRequest } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { type AnswerSource, admitError, admitResult } from './admit-result.ts'
import { mayReadFiles } from './may-read-files.ts'
import { performUse, sendPinned, type UseOutcome } from './send-through-gate.ts'

type Arguments = Readonly<Record<string, unknown>>

/** The result of the tool; or the error, with its admitted text in the shape of a result. */
export type CallOfTool = { result: CallToolResult } | { error: unknown; said: CallToolResult }

/** Sends a call that the gate permitted, and resolves with its result. */
export type SendCall = (permit: RecordedPermit) => Promise<CallToolResult>

/** @param send default: a plain call */
export async function callTool(
  services: ActionServices,
  server: HostedServer,
  name: string,
  given: Arguments,
  options: UseOptions,
  send: SendCall = ({ action }) => sendCall(services, server, name, action.args, options),
): Promise<CallOfTool> {
  const { pins, lastArguments } = services
  await pins.refresh()
  const tool = server.definition('tool', name) as Tool | undefined
  if (!tool) throw new McpError('ERR_SERVER_UNKNOWN', `The server ${server.id} offers no tool ${JSON.stringify(name)}`)
  checkAudience(tool, server, options)
  // A copy, so that the caller cannot change the arguments between the decision and the call.
  let args: Arguments = structuredClone(given)
  await checkArguments(tool, args)
  const isOwn = options.initiator === 'user'
  const request: ActionRequest = {
    ...toolRequest(server, name, () => args, options),
    subject: async () => ({
      kind: 'call',
      tool,
      args,
      isOwn,
      pattern: proposePattern(args, { schema: tool.inputSchema, tier: server.spec.tier }),
      lastArgs: lastArguments.of(server.id, name)?.args,
      wasOwn: lastArguments.of(server.id, name)?.isOwn ?? false,
      destination: destinationOf(server.spec, tool, server.asserted(name)),
      ...(isOutsideByTier(server.spec, tool, server.asserted(name)) && { isOutsideByTier: true }),
      origins: options.conversation.flow().originsOf(args),
      mayMissOrigins: options.conversation.flow().takeThinnedNotice(),
    }),
    edit: async (edited) => {
      if (!isObject(edited)) throw new McpError('ERR_INVALID_PARAMS', `Arguments are an object, not ${JSON.stringify(edited)}`)
      await checkArguments(tool, edited)
      args = edited
    },
  }
  const outcome = await performUse(services, request, options, (permit) => {
    if (permit.answer) lastArguments.remember(server.id, name, { args, isOwn })
    return send(permit)
  })
  return admitCall(services, { server, tool, mayContainFiles: mayReadFiles(server, args) }, outcome, options)
}

function sendCall(
  { redactor }: ActionServices,
  server: HostedServer,
  name: string,
  args: Arguments,
  options: UseOptions,
): Promise<CallToolResult> {
  const { signal, onProgress, timeoutMs, maxTotalMs } = options
  const shown = onProgress && ((progress: Progress) => onProgress(shownProgress(progress, (text) => redactor.scrub(text))))
  return sendPinned(server, { kind: 'tool', name }, options, (client) =>
    client.call(name, { ...args }, { signal, onProgress: shown, timeoutMs, maxTotalMs }),
  )
}

/** Where the answer to a call comes from. */
export interface CallOrigin {
  server: HostedServer
  tool: Tool
  /** Whether the answer may contain files of this computer. */
  mayContainFiles: boolean
}

/** Admits the answer to a call, or the text of its error. */
export async function admitCall(
  services: Pick<ActionServices, 'gate' | 'hasRules' | 'wallNow'>,
  { server, tool, mayContainFiles }: CallOrigin,
  outcome: UseOutcome<CallToolResult>,
  options: UseOptions,
): Promise<CallOfTool> {
  const { name } = tool
  const source: AnswerSource = {
    server,
    kind: 'tool.result',
    primitive: { kind: 'tool', name },
    labels: (findings) => labelsOfResult(server.spec, tool, server.asserted(name), { findings, mayContainFiles }),
  }
  if ('error' in outcome) return { error: outcome.error, said: await admitError(services, source, outcome, options) }
  return { result: await admitResult(services, source, TOOL_RESULT, outcome, options) }
}

/** A tool says whether models or apps may call it. The person may call every tool. */
function checkAudience(tool: Tool, { id }: HostedServer, { initiator }: UseOptions): void {
  if (initiator !== 'model' && initiator !== 'app') return
  if (!toolViewOf(tool).visibility.includes(initiator))
    throw new McpError(
      'ERR_SERVER_UNKNOWN',
      `The server ${id} offers no tool ${JSON.stringify(tool.name)} to ${initiator === 'app' ? 'apps' : 'models'}`,
    )
}

export const toolRequest = (
  server: HostedServer,
  name: string,
  args: () => Arguments,
  options: UseOptions,
): Omit<ActionRequest, 'subject'> =>
  useRequest(server, options.initiator === 'app' ? 'app.call' : 'tool.call', options, () => ({
    primitive: server.primitive('tool', name),
    args: args(),
  }))

/** Maximum length of a progress message. Servers write them, so they may be long. */
const MAX_PROGRESS_CHARS = 2_000

/** Progress messages go to the person only, without the secrets of the server. */
export function shownProgress(progress: Progress, scrub: (text: string) => string): Progress {
  const { message } = progress
  if (message === undefined) return progress
  const clean = scrub(message)
  return { ...progress, message: clean.length > MAX_PROGRESS_CHARS ? `${clean.slice(0, MAX_PROGRESS_CHARS)}…` : clean }
}
