/**
 * The way in for everything a server says: answers, and the words of its errors. It is inspected, cut to size, decided about
 * and labelled before a person, a program or a model sees any of it.
 */

import { McpError } from '../../protocol/errors.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import type { CallToolResult } from '../../protocol/model/tools.ts'
import type { ActionRequest, Permit } from '../consent/gate/gate.ts'
import { type AnswerShape, TOOL_RESULT } from '../conversation/flow/answers.ts'
import { inspectResult } from '../conversation/flow/inspect-result.ts'
import type { ActionKind, ActionPrimitive } from '../model/action.ts'
import type { Finding } from '../model/question.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import type { HostServices } from '../services/services.ts'
import { type UseOptions, useRequest } from './action-request.ts'

/** What a use came to, and how much of it may be let in. */
export type Came<T> = { value: T; maxBytes: number } | Failed

interface Failed {
  error: unknown
  /** What the server said, or may have said, in the error. */
  said: CallToolResult
  maxBytes: number
}

/** What is about to be let in: of what it is, and which labels it brings. */
export interface Arriving {
  /** What rules know it as; undefined where there are no rules about it. */
  kind: Extract<ActionKind, `${string}.result`> | undefined
  primitive: Pick<ActionPrimitive, 'kind' | 'name'>
  /** Where it came from, within the server; the name of the primitive unless given. */
  source?: string
  labels(findings: readonly Finding[]): readonly string[]
}

/** Does it, if the gate lets it be done. Rejects only with what the host itself has to say. */
export async function useThrough<T>(
  parts: HostServices,
  want: ActionRequest,
  { signal }: UseOptions,
  send: (permit: Permit) => Promise<T>,
): Promise<Came<T>> {
  // What the rules about the use say of its answer; rules about results may say less.
  let maxBytes = parts.maxResultBytes
  let failure: unknown
  try {
    const value = await parts.gate.run(
      want,
      async (permit) => {
        maxBytes = Math.min(maxBytes, permit.decision.limits.resultBytes ?? maxBytes)
        try {
          return await send(permit)
        } catch (error) {
          failure = error
          throw error
        }
      },
      (done) => ({ resultBytes: sizeOf(done) }),
    )
    return { value, maxBytes }
  } catch (error) {
    if (error !== failure || signal?.aborted || isOwn(error)) throw error
    return { error, said: saidIn(error), maxBytes }
  }
}

/**
 * Errors of the host that quote nobody. All others may: what a server answered, what it wrote before it ended, what an
 * authorization server or a proxy on the way said.
 */
const OWN_WORDS: ReadonlySet<unknown> = new Set(['ERR_TIMEOUT', 'ERR_QUARANTINED', 'ERR_DENIED', 'ERR_CONSENT', 'ERR_AUDIT', 'ERR_BUDGET'])

const isOwn = (error: unknown): boolean => error instanceof McpError && OWN_WORDS.has(error.code)

function saidIn(error: unknown): CallToolResult {
  const { message, data } = (error ?? {}) as { message?: unknown; data?: unknown }
  const words = typeof message === 'string' ? message : 'no reason was given'
  return { content: [{ type: 'text', text: words }], ...(data !== undefined && { structuredContent: data }), isError: true }
}

/** The answer, or the error, as far as it may be seen. */
export async function heard<T>(
  parts: HostServices,
  server: HostedServer,
  arriving: Arriving,
  shape: AnswerShape<T>,
  came: Came<T>,
  options: UseOptions,
): Promise<T> {
  if (!('error' in came)) return admitResult(parts, server, arriving, shape, came, options)
  await admitError(parts, server, arriving, came, options)
  throw came.error
}

/** The words of the error, as far as they may be seen. The error itself says no more than that afterwards. */
export async function admitError(
  parts: HostServices,
  server: HostedServer,
  arriving: Arriving,
  { error, said, maxBytes }: Failed,
  options: UseOptions,
): Promise<CallToolResult> {
  const admitted = await admitResult(parts, server, arriving, TOOL_RESULT, { value: said, maxBytes }, options)
  if (error instanceof Error) {
    const message = admitted.content.map((block) => (block.type === 'text' ? block.text : '')).join(' ')
    // The same error: who catches it may look for its class and its code.
    if (message !== error.message) Object.assign(error, { message, stack: undefined, cause: undefined })
    if (said.structuredContent !== undefined && admitted.structuredContent === undefined) Object.assign(error, { data: undefined })
  }
  const { structuredContent: _, ...words } = admitted
  return words
}

/** Inspected, decided about, cut and labelled. Rejects when it is kept back. */
export async function admitResult<T>(
  parts: HostServices,
  server: HostedServer,
  arriving: Arriving,
  shape: AnswerShape<T>,
  came: { value: T; maxBytes: number },
  options: UseOptions,
): Promise<T> {
  const { primitive, source = primitive.name } = arriving
  const findings = inspectResult(shape.view(came.value), { maxBytes: came.maxBytes })
  const admitted = await admit(parts, server, arriving, shape, came, findings, options).catch((error: unknown) => {
    // Whoever hears only of a refusal would take it that nothing was done, and do it again.
    if (!(error instanceof McpError)) throw error
    const { code, message, data } = error
    const what = primitive.kind === 'tool' ? 'was called and has answered, but its result' : 'has answered, but its answer'
    throw new McpError(code, `${server.id}/${primitive.name} ${what} is kept back: ${message}`, { data, cause: error })
  })
  const at = parts.wallNow()
  options.run.flow.add({ labels: arriving.labels(findings), source: `${server.id}/${source}`, value: admitted, at })
  return admitted
}

async function admit<T>(
  parts: HostServices,
  server: HostedServer,
  { kind, primitive }: Arriving,
  shape: AnswerShape<T>,
  { value, maxBytes }: { value: T; maxBytes: number },
  findings: readonly Finding[],
  options: UseOptions,
): Promise<T> {
  const safe = shape.cap(value, maxBytes)
  // Where nothing was found and no rule is about results, there is nothing to decide.
  if (kind === undefined || (findings.length === 0 && !parts.hasRules(kind))) return safe
  const result = shape.view(value)
  const want: ActionRequest = {
    ...useRequest(server, kind, options, () => ({
      primitive: server.primitive(primitive.kind, primitive.name),
      args: { bytes: sizeOf(value), findings: findings.map((finding) => finding.kind), isError: result.isError === true },
    })),
    subject: () => ({ kind: 'result', tool: primitive.name, result, findings }),
  }
  return parts.gate.run(want, async ({ decision }) => {
    const { resultBytes } = decision.limits
    return resultBytes === undefined ? safe : shape.cap(value, Math.min(resultBytes, maxBytes))
  })
}

/** How much of one message about progress is shown. */
const MAX_PROGRESS_CHARS = 2_000

/** What a server says while it works goes to the person only, without what the server was given at its start. */
export function shownProgress({ redactor }: Pick<HostServices, 'redactor'>, progress: Progress): Progress {
  const { message } = progress
  if (message === undefined) return progress
  const clean = redactor.scrub(message)
  return { ...progress, message: clean.length > MAX_PROGRESS_CHARS ? `${clean.slice(0, MAX_PROGRESS_CHARS)}…` : clean }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')
