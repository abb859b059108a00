/** Answers sampling requests of servers: within their budgets, without other context, and gated before and after the model. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Answers, Asking } from '../../client/answer-server.ts'
import { Cancelled, Declined, McpError } from '../../protocol/errors.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../protocol/model/sampling.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { type ChooseOptions, chooseModel } from '../language-models/choose-model.ts'
import type { Model } from '../language-models/language-model.ts'
import { isRefusal } from '../model/refusal.ts'
import { Budget, type BudgetLeft, type BudgetLimits, type BudgetStore, DEFAULT_BUDGET_LIMITS, memoryBudgetStore } from './budget.ts'
import { checkSamplingParams, checkSamplingResult, DEFAULT_REQUEST_LIMITS, type RequestLimits } from './request.ts'
import { type Meter, promptTokens, type Sampled, sample } from './sample.ts'

/** The request as the person decides about it, before the model gets it. Nothing is shortened. */
export interface SamplingRequest {
  /** The name in the configuration. */
  server: string
  params: CreateMessageParams
  model: Pick<Model, 'id' | 'label' | 'isPerson'>
  /** The budget before this request. */
  budget: BudgetLeft
  signal: AbortSignal
  /** The server's id of the task that asks. Default: none. */
  task?: string | undefined
}

/** The answer as the person decides about it, before the server gets it. The result is complete. */
export interface SamplingDelivery extends SamplingRequest {
  result: CreateMessageResult
}

/**
 * Decides about a request, asks the person if needed, and performs it with their edits. Rejects when it is refused; the server learns
 * only that it was rejected.
 */
export interface SamplingGate {
  create(request: SamplingRequest, perform: (params: CreateMessageParams) => Promise<Sampled>): Promise<Sampled>
  deliver(delivery: SamplingDelivery, perform: (result: CreateMessageResult) => Promise<CreateMessageResult>): Promise<CreateMessageResult>
}

/** The options `limits.sampling` of a host. */
export interface BrokerLimits {
  /** Tokens of one answer, even if the server requests more. */
  maxTokens: number
}

export const DEFAULT_BROKER_LIMITS: BrokerLimits = { maxTokens: 8192 }

/** Limits against a faulty model or server. Useful requests stay far below them, so they are not options. Tests make them small. */
export interface FixedBrokerLimits extends RequestLimits {
  /** Characters of one answer, for models that count tokens wrongly. */
  maxAnswerChars: number
  /** Depth of nested requests: a request that was made because of another one. One is enough for a tool that samples. */
  maxDepth: number
  /** How long the model may take to answer. */
  maxAnswerMs: number
  /** Requests of one server at the same time, from the question to the delivery. A person answers one after the other. */
  maxConcurrentPerServer: number
  /** Requests of all servers at the same time: four busy servers. */
  maxConcurrent: number
}

export const FIXED_BROKER_LIMITS: FixedBrokerLimits = {
  ...DEFAULT_REQUEST_LIMITS,
  maxAnswerChars: 1_000_000,
  maxDepth: 1,
  maxAnswerMs: 10 * 60_000,
  maxConcurrentPerServer: 4,
  maxConcurrent: 16,
}

export interface BrokerOptions extends ChooseOptions {
  /** Read for each request. */
  readonly models: readonly Model[]
  /** The person in place of a model, for servers that may use no model. */
  person?(server: string): Model
  gate: SamplingGate
  /** Ids of the models a server may use. Default: all. */
  allowedModels?(server: string): readonly string[] | undefined
  limits?: Partial<BrokerLimits & FixedBrokerLimits>
  /** One budget for each server: the same for all, or a function that returns it by server. */
  budget?: Partial<BudgetLimits> | ((server: string) => Partial<BudgetLimits>)
  store?: BudgetStore
  clock?: Clock
  /** Wall clock in milliseconds. */
  now?(): number
  /** Called with the real reason when a request is not answered. */
  onFailure?(server: string, error: unknown): void
}

export interface Broker {
  /** For the client of one server: `answer: { sample: broker.answerFor('notes') }`. */
  answerFor(server: string): Extract<Answers['sample'], { handler: unknown }>
  budgetLeft(server: string): Promise<BudgetLeft>
}

export function createBroker(options: BrokerOptions): Broker {
  const { gate, budget: given, clock = systemClock } = options
  const limits = withDefaults({ ...DEFAULT_BROKER_LIMITS, ...FIXED_BROKER_LIMITS }, options.limits)
  const limitsOf = (server: string): BudgetLimits =>
    withDefaults(DEFAULT_BUDGET_LIMITS, typeof given === 'function' ? given(server) : given)
  const budget = new Budget(options.store ?? memoryBudgetStore(), limitsOf, options.now ?? Date.now)
  const active = new Map<string, number>()

  const answer = async (server: string, asked: CreateMessageParams, { signal, task }: Asking): Promise<CreateMessageResult> => {
    const model = modelFor(server, asked, options)
    // The host shares no context. A server that asks for context is answered without it.
    const params: CreateMessageParams = asked.includeContext === undefined ? asked : { ...asked, includeContext: 'none' }
    const wanted = Math.min(params.maxTokens, limits.maxTokens)
    const reservation = await budget.reserve(server, { promptTokens: promptTokens(params), maxTokens: wanted })
    const request = { server, params: { ...params, maxTokens: reservation.maxTokens }, model, budget: reservation.left, signal, task }
    const meter: Meter = { tokens: 0 }
    let approved = request.params
    try {
      const { result } = await gate.create(request, async (edited) => {
        approved = { ...checkSamplingParams(edited, limits), maxTokens: Math.min(edited.maxTokens, reservation.maxTokens) }
        return depth.run((depth.getStore() ?? 0) + 1, () => sample(model, approved, { ...limits, signal, clock, meter }))
      })
      return await gate.deliver({ ...request, params: approved, result }, async (edited) => checkSamplingResult(edited))
    } finally {
      // If this fails, the reservation stays: the budget counts too much rather than too little.
      await reservation.settle(meter.tokens).catch(() => {})
    }
  }

  const handle = async (server: string, asked: CreateMessageParams, asking: Asking): Promise<CreateMessageResult> => {
    const params = checkSamplingParams(asked, limits)
    if ((depth.getStore() ?? 0) >= limits.maxDepth) throw refused('it was made while another one is answered (maxDepth)')
    const leave = enter(active, server, limits)
    try {
      return await answer(server, params, asking)
    } catch (error) {
      if (asking.signal.aborted) throw error
      options.onFailure?.(server, error)
      throw forServer(error)
    } finally {
      leave()
    }
  }

  return {
    answerFor: (server) => ({
      handler: (params, asking) => handle(server, params, asking),
      tools: true,
      context: false,
    }),
    budgetLeft: (server) => budget.left(server),
  }
}

/** How many sampling requests the running code is nested in. */
const depth = new AsyncLocalStorage<number>()

const refused = (why: string): McpError => new McpError('ERR_LIMIT', `The sampling request is refused: ${why}`)

function enter(active: Map<string, number>, server: string, { maxConcurrent, maxConcurrentPerServer }: FixedBrokerLimits): () => void {
  const mine = active.get(server) ?? 0
  const all = [...active.values()].reduce((sum, each) => sum + each, 0)
  if (mine >= maxConcurrentPerServer) throw refused(`the server has ${maxConcurrentPerServer} running already (maxConcurrentPerServer)`)
  if (all >= maxConcurrent) throw refused(`${maxConcurrent} are running already (maxConcurrent)`)
  active.set(server, mine + 1)
  return () => {
    const left = (active.get(server) ?? 1) - 1
    if (left === 0) active.delete(server)
    else active.set(server, left)
  }
}

function modelFor(server: string, { modelPreferences }: CreateMessageParams, options: BrokerOptions): Model {
  const allowed = options.allowedModels?.(server)
  const usable = allowed ? options.models.filter(({ id }) => allowed.includes(id)) : options.models
  const model = chooseModel(usable, modelPreferences, options) ?? options.person?.(server)
  if (!model) throw new McpError('ERR_MODEL', 'No model is available')
  return model
}

const SPEAKABLE: ReadonlySet<string> = new Set(['ERR_MODEL', 'ERR_BUDGET', 'ERR_LIMIT'])

/** The error for the server: it does not reveal who or which rule rejected the request, nor details of internal failures. */
function forServer(error: unknown): Error {
  const code = error instanceof McpError ? error.code : ''
  if (error instanceof Declined || error instanceof Cancelled || isRefusal(error)) return new Declined('The sampling request was rejected')
  return error instanceof McpError && SPEAKABLE.has(code)
    ? error
    : new McpError('ERR_INTERNAL', 'The sampling request failed', { cause: error })
}
