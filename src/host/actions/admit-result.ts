/**
 * Admits the answers and the error texts of servers: inspects them, cuts them to size, decides about them and labels the
 * conversation, before a person, a program or a model sees them.
 */

import { McpError } from '../../protocol/errors.ts'
import type { CallToolResult } from '../../protocol/model/tools.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import { type AnswerShape, TOOL_RESULT } from '../conversation/flow/answers.ts'
import { inspectResult } from '../conversation/flow/inspect-result.ts'
import type { ActionKind, ActionPrimitive } from '../model/action.ts'
import type { Finding } from '../model/question.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { type UseOptions, useRequest } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { type FailedUse, sizeOf, type UseOutcome } from './send-through-gate.ts'

type AdmitServices = Pick<ActionServices, 'gate' | 'hasRules' | 'wallNow'>

/** Where an answer comes from, and the labels that it brings. */
export interface AnswerSource {
  server: HostedServer
  /** The action that rules decide about. Undefined for answers that rules do not decide about. */
  kind: Extract<ActionKind, `${string}.result`> | undefined
  primitive: Pick<ActionPrimitive, 'kind' | 'name'>
  /** The place within the server. Default: the name of the primitive. */
  source?: string
  labels(findings: readonly Finding[]): readonly string[]
}

/** Returns the admitted answer, or throws the error with its admitted text. */
export async function admitOutcome<T>(
  services: AdmitServices,
  source: AnswerSource,
  shape: AnswerShape<T>,
  outcome: UseOutcome<T>,
  options: UseOptions,
): Promise<T> {
  if (!('error' in outcome)) return admitResult(services, source, shape, outcome, options)
  await admitError(services, source, outcome, options)
  throw outcome.error
}

/** Returns the admitted text of the error, and removes from the error itself the text that was not admitted. */
export async function admitError(
  services: AdmitServices,
  source: AnswerSource,
  { error, said, maxBytes }: FailedUse,
  options: UseOptions,
): Promise<CallToolResult> {
  const admitted = await admitResult(services, source, TOOL_RESULT, { value: said, maxBytes }, options)
  if (error instanceof Error) {
    const message = admitted.content.map((block) => (block.type === 'text' ? block.text : '')).join(' ')
    // The object stays the same, because callers look at its class and its code.
    if (message !== error.message) Object.assign(error, { message, stack: undefined, cause: undefined })
    if (said.structuredContent !== undefined && admitted.structuredContent === undefined) Object.assign(error, { data: undefined })
  }
  const { structuredContent: _, ...text } = admitted
  return text
}

/** @throws McpError of the refusal, if the answer is not admitted */
export async function admitResult<T>(
  services: AdmitServices,
  source: AnswerSource,
  shape: AnswerShape<T>,
  outcome: { value: T; maxBytes: number },
  options: UseOptions,
): Promise<T> {
  const { server, primitive } = source
  const findings = inspectResult(shape.view(outcome.value), { maxBytes: outcome.maxBytes })
  const admitted = await decideAndCut(services, source, shape, outcome, findings, options).catch((error: unknown) => {
    // The message says that the action was done. A bare refusal would invite a second attempt.
    if (!(error instanceof McpError)) throw error
    const { code, message, data } = error
    const what = primitive.kind === 'tool' ? 'was called and has answered, but its result' : 'has answered, but its answer'
    throw new McpError(code, `${server.id}/${primitive.name} ${what} is kept back: ${message}`, { data, cause: error })
  })
  options.conversation.flow().add({
    labels: source.labels(findings),
    source: `${server.id}/${source.source ?? primitive.name}`,
    server: server.id,
    value: admitted,
    at: services.wallNow(),
  })
  return admitted
}

async function decideAndCut<T>(
  { gate, hasRules }: AdmitServices,
  { server, kind, primitive }: AnswerSource,
  shape: AnswerShape<T>,
  { value, maxBytes }: { value: T; maxBytes: number },
  findings: readonly Finding[],
  options: UseOptions,
): Promise<T> {
  const cut = shape.cap(value, maxBytes)
  // Without findings and without rules about results there is nothing to decide.
  if (kind === undefined || (findings.length === 0 && !hasRules(kind))) return cut
  const result = shape.view(value)
  const request: ActionRequest = {
    ...useRequest(server, kind, options, () => ({
      primitive: server.primitive(primitive.kind, primitive.name),
      args: { bytes: sizeOf(value), findings: findings.map((finding) => finding.kind), isError: result.isError === true },
    })),
    subject: () => ({ kind: 'result', tool: primitive.name, result, findings }),
  }
  return gate.run(request, async ({ decision }) => {
    const { resultBytes } = decision.limits
    return resultBytes === undefined ? cut : shape.cap(value, Math.min(resultBytes, maxBytes))
  })
}
