/** What a server may ask of its host, each answered through the gate: forms, pages, messages of a model, directories. */

import type { Answers, Asking, FormRequest, UrlRequest } from '../../client/answers.ts'
import { McpError } from '../../protocol/errors.ts'
import type { ElicitResult } from '../../protocol/model/elicitation.ts'
import type { CreateMessageResult } from '../../protocol/model/sampling.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import type { RefusalData } from '../consent/gate/refusal.ts'
import type { ActionKind, Initiator } from '../model/action.ts'
import type { Subject } from '../model/question.ts'
import type { SamplingGate } from '../sampling/broker.ts'
import { checkSamplingParams, checkSamplingResult } from '../sampling/request.ts'
import type { Sampled } from '../sampling/sample.ts'
import type { HostServices } from '../services/services.ts'
import type { HostedServer } from './hosted-server.ts'

export interface ServerAnswersOptions {
  parts: HostServices
  server(): HostedServer
  /** Whether there is anybody who could answer. */
  canAsk: boolean
  /** Opens a page after the person agreed to it. */
  openUrl(url: string): void | Promise<void>
  sample: Answers['sample']
  roots: NonNullable<Answers['roots']>
}

/** What has nobody to answer it is not offered to the server. */
export function answersFor(options: ServerAnswersOptions): Answers {
  const { canAsk, sample, roots } = options
  return {
    ...(canAsk && {
      elicit: (request, asking) => fill(options, request, asking),
      elicitUrl: (request, asking) => visit(options, request, asking),
    }),
    ...(sample && { sample }),
    roots,
  }
}

async function fill({ parts, server }: ServerAnswersOptions, request: FormRequest, { signal }: Asking): Promise<ElicitResult> {
  const { message, schema, defaults } = request
  const fields = Object.keys(schema.properties)
  let content: unknown = defaults
  const want = serverWant(
    parts,
    server(),
    'elicit.form',
    { message, fields },
    {
      subject: () => ({ kind: 'form', message, schema, defaults, warnings: [] }),
      edit: (edited) => {
        content = edited
      },
      signal,
    },
  )
  return answered(() => parts.gate.run(want, async () => ({ action: 'accept', content: content as NonNullable<ElicitResult['content']> })))
}

async function visit(
  { parts, server, openUrl }: ServerAnswersOptions,
  request: UrlRequest,
  { signal }: Asking,
): Promise<Pick<ElicitResult, 'action'>> {
  const { message, elicitationId: _, ...url } = request
  const want = serverWant(
    parts,
    server(),
    'elicit.url',
    { url: url.href, message },
    { subject: () => ({ kind: 'url', message, url }), signal },
  )
  return answered(() =>
    parts.gate.run(want, async () => {
      await openUrl(url.href)
      return { action: 'accept' }
    }),
  )
}

/** A person may say no, or nothing; a rule may say no for them. The server is told which of the first two, and no more. */
async function answered(run: () => Promise<ElicitResult>): Promise<ElicitResult> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    if (error.code === 'ERR_CONSENT' || error.code === 'ERR_QUARANTINED') return { action: 'cancel' }
    if (error.code !== 'ERR_DENIED') throw error
    return { action: (error.data as RefusalData).isCancelled ? 'cancel' : 'decline' }
  }
}

interface ServerWantOptions extends Pick<ActionRequest, 'edit' | 'signal'> {
  subject(): Subject
  initiator?: Initiator
  isConfigured?: true
  /** The server has asked for it, whoever is to do it; so unless the person starts it. */
  isAskedByServer?: boolean
}

/** Something that a server wants, on behalf of whoever called it if that is clear. */
export function serverWant(
  parts: HostServices,
  server: HostedServer,
  kind: ActionKind,
  args: Readonly<Record<string, unknown>> | (() => Readonly<Record<string, unknown>>),
  { subject, initiator = 'server', isConfigured, isAskedByServer = initiator === 'server', edit, signal }: ServerWantOptions,
): ActionRequest {
  const run = server.onlyRun ?? parts.run
  return {
    describe: () => ({
      kind,
      run: run.id,
      turn: run.turn,
      initiator,
      ...(isConfigured && { isConfigured }),
      server: server.facts,
      // What it may ask of anybody stands on what was approved of it: before that it is heard by nobody.
      ...(isAskedByServer && { primitive: server.primitive('capabilities', 'capabilities') }),
      claimed: {},
      asserted: {},
      args: typeof args === 'function' ? args() : args,
      labels: [],
    }),
    subject,
    server: server.shown,
    chain: ['you', `server ${server.id}`],
    ...(edit && { edit }),
    ...(signal && { signal }),
  }
}

/** How the broker of the models is let through: once before the model is asked, once before the server gets what it said. */
export function samplingGate(parts: HostServices, serverOf: (id: string) => HostedServer): SamplingGate {
  return {
    create: ({ server: id, params, model, budget, signal }, perform) => {
      const server = serverOf(id)
      let edited = params
      // A person who writes the answer themselves is shown all of it then, and may say no then.
      const want = serverWant(parts, server, 'sampling.create', () => ({ ...edited, model: model.id }), {
        subject: () => ({
          kind: 'sample',
          params,
          model: model.label,
          budget: { tokensLeft: budget.tokensLeft, requestsLeft: budget.requestsLeft },
        }),
        initiator: model.isPerson ? 'user' : 'server',
        isAskedByServer: true,
        edit: (given) => {
          edited = checkSamplingParams(given)
        },
        signal,
      })
      return parts.gate.run<Sampled>(
        want,
        async () => {
          const sampled = await perform(edited)
          parts.usage.spend(id, sampled.tokens)
          return sampled
        },
        ({ tokens }) => ({ tokens }),
      )
    },
    deliver: ({ server: id, params, result, model, signal }, perform) => {
      let edited: CreateMessageResult = result
      const want = serverWant(parts, serverOf(id), 'sampling.deliver', () => ({ ...edited }), {
        subject: () => ({ kind: 'sampled', params, result }),
        initiator: model.isPerson ? 'user' : 'server',
        isAskedByServer: true,
        edit: (given) => {
          edited = checkSamplingResult(given)
        },
        signal,
      })
      return parts.gate.run(want, () => perform(edited))
    },
  }
}
