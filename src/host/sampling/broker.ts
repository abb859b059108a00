/** Lets servers ask the models of the host: within their budgets, with nothing but what they brought, and by a person's leave twice. */

import { AsyncLocalStorage } from 'node:async_hooks'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Answers, Asking } from '../../client/answers.ts'
import { Cancelled, Declined, McpError } from '../../protocol/errors.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../protocol/model/sampling.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { isRefusal } from '../model/refusal.ts'
import { type ChooseOptions, chooseModel } from '../models/choose.ts'
import type { Model } from '../models/model.ts'
import { Budget, type BudgetLeft, type BudgetLimits, type BudgetStore, DEFAULT_BUDGET_LIMITS, memoryBudgetStore } from './budget.ts'
import { checkSamplingParams, checkSamplingResult, DEFAULT_REQUEST_LIMITS, type RequestLimits } from './request.ts'
import { type Meter, promptTokens, type Sampled, sample } from './sample.ts'

/** What is decided before the model is asked. Nothing of it is shortened. */
export interface SamplingRequest {
  /** By the name in the configuration. */
  server: string
  params: CreateMessageParams
  model: Pick<Model, 'id' | 'label' | 'isPerson'>
  /** Before this request. */
  budget: BudgetLeft
  signal: AbortSignal
}

/** What is decided before the server gets the answer. */
export interface SamplingDelivery extends SamplingRequest {
  result: CreateMessageResult
}

/**
 * Decides, asks whoever must be asked, and does it with what they made of it. Rejects when it may not be done:
 * the server hears only that it was rejected, whoever or whatever said no.
 */
export interface SamplingGate {
  create(request: SamplingRequest, perform: (params: CreateMessageParams) => Promise<Sampled>): Promise<Sampled>
  deliver(delivery: SamplingDelivery, perform: (result: CreateMessageResult) => Promise<CreateMessageResult>): Promise<CreateMessageResult>
}

export interface BrokerLimits extends RequestLimits {
  /** Tokens of one answer, whatever the server asks for. */
  maxTokens: number
  /** Characters of one answer, whatever the model says about tokens. */
  maxAnswerChars: number
  /** Requests of one server, and of all, from the question to the delivery; more are refused. */
  maxConcurrentPerServer: number
  maxConcurrent: number
  /** Requests that are made while another is answered, and because of it. */
  maxDepth: number
  /** How long a model may take. */
  maxAnswerMs: number
}

export const DEFAULT_BROKER_LIMITS: BrokerLimits = {
  ...DEFAULT_REQUEST_LIMITS,
  maxTokens: 8192,
  maxAnswerChars: 1_000_000,
  maxConcurrentPerServer: 4,
  maxConcurrent: 16,
  maxDepth: 1,
  maxAnswerMs: 10 * 60_000,
}

export interface BrokerOptions extends ChooseOptions {
  models: readonly Model[]
  /** Answers for a server when there is no model for it. */
  person?(server: string): Model
  gate: SamplingGate
  /** Names of the models a server may use; all of them unless given. */
  allowedModels?(server: string): readonly string[] | undefined
  limits?: Partial<BrokerLimits>
  /** For all servers, or for each. */
  budget?: Partial<BudgetLimits> | ((server: string) => Partial<BudgetLimits>)
  store?: BudgetStore
  clock?: Clock
  /** Milliseconds of the wall clock. */
  now?(): number
  /** Hears why a request was not answered, whatever the server is told. */
  onFailure?(server: string, error: unknown): void
}

export interface Broker {
  /** For the client of one server: `answer: { sample: broker.answerFor('notes') }`. */
  answerFor(server: string): Extract<Answers['sample'], { handler: unknown }>
  budgetLeft(server: string): Promise<BudgetLeft>
}

export function createBroker(options: BrokerOptions): Broker {
  const { gate, budget: given, clock = systemClock } = options
  const limits = withDefaults(DEFAULT_BROKER_LIMITS, options.limits)
  const limitsOf = (server: string): BudgetLimits =>
    withDefaults(DEFAULT_BUDGET_LIMITS, typeof given === 'function' ? given(server) : given)
  const budget = new Budget(options.store ?? memoryBudgetStore(), limitsOf, options.now ?? Date.now)
  const active = new Map<string, number>()

  const answer = async (server: string, asked: CreateMessageParams, signal: AbortSignal): Promise<CreateMessageResult> => {
    const model = modelFor(server, asked, options)
    // The host shares no context. A server that asks for context is answered without it.
    const params: CreateMessageParams = asked.includeContext === undefined ? asked : { ...asked, includeContext: 'none' }
    const wanted = Math.min(params.maxTokens, limits.maxTokens)
    const reservation = await budget.reserve(server, { promptTokens: promptTokens(params), maxTokens: wanted })
    const request = { server, params: { ...params, maxTokens: reservation.maxTokens }, model, budget: reservation.left, signal }
    const meter: Meter = { tokens: 0 }
    let approved = request.params
    try {
      const { result } = await gate.create(request, async (edited) => {
        approved = { ...checkSamplingParams(edited, limits), maxTokens: Math.min(edited.maxTokens, reservation.maxTokens) }
        return depth.run((depth.getStore() ?? 0) + 1, () => sample(model, approved, { ...limits, signal, clock, meter }))
      })
      return await gate.deliver({ ...request, params: approved, result }, async (edited) => checkSamplingResult(edited))
    } finally {
      // What was reserved stays taken when this fails: too much is counted then, and the next request says why.
      await reservation.settle(meter.tokens).catch(() => {})
    }
  }

  const handle = async (server: string, asked: CreateMessageParams, { signal }: Asking): Promise<CreateMessageResult> => {
    const params = checkSamplingParams(asked, limits)
    if ((depth.getStore() ?? 0) >= limits.maxDepth) throw refused('was made while another was answered (maxDepth)')
    const leave = enter(active, server, limits)
    try {
      return await answer(server, params, signal)
    } catch (error) {
      if (signal.aborted) throw error
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

/** How many requests stand above the code that runs: nothing that answers one may make another. */
const depth = new AsyncLocalStorage<number>()

const refused = (why: string): McpError => new McpError('ERR_LIMIT', `The sampling request is refused: it ${why}`)

function enter(active: Map<string, number>, server: string, { maxConcurrent, maxConcurrentPerServer }: BrokerLimits): () => void {
  const mine = active.get(server) ?? 0
  const all = [...active.values()].reduce((sum, each) => sum + each, 0)
  if (mine >= maxConcurrentPerServer) throw refused(`is one more than ${maxConcurrentPerServer} at a time (maxConcurrentPerServer)`)
  if (all >= maxConcurrent) throw refused(`is one more than ${maxConcurrent} at a time (maxConcurrent)`)
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
  if (!model) throw new McpError('ERR_MODEL', 'There is no model to ask')
  return model
}

const SPEAKABLE: ReadonlySet<string> = new Set(['ERR_MODEL', 'ERR_BUDGET', 'ERR_LIMIT'])

/** A server learns that it was rejected, not by whom or by which rule; and of what broke on this side, that something did. */
function forServer(error: unknown): Error {
  const code = error instanceof McpError ? error.code : ''
  if (error instanceof Declined || error instanceof Cancelled || isRefusal(error)) return new Declined('The sampling request was rejected')
  return error instanceof McpError && SPEAKABLE.has(code)
    ? error
    : new McpError('ERR_INTERNAL', 'The sampling request failed', { cause: error })
}
