/** Runs a tool as a stateless client and several replicas would: every round on another channel. */

import { isObject } from '../base/json.ts'
import type { Params } from '../jsonrpc/message.ts'
import type { Outlet } from '../jsonrpc/outlet.ts'
import { classify } from '../jsonrpc/read.ts'
import { checkMembers } from '../protocol/check-members.ts'
import type { Service } from '../protocol/interfaces/service.ts'
import { META } from '../protocol/model/base.ts'
import type { CallToolResult } from '../protocol/model/tools.ts'
import { REVISIONS } from '../revisions/index.ts'
import { offerStateless } from '../revisions/negotiate.ts'

/** Options for `rehearse`. */
export interface RehearseOptions {
  /** Counters of side effects, by name. A counter that grows in more than one round is an error. */
  effects?: Record<string, () => number>
  /** Default: 20. */
  maxRounds?: number
}

/** The outcome of `rehearse`. */
export interface Rehearsal {
  result: CallToolResult
  /** The names of the questions in each round. */
  rounds: string[][]
}

/**
 * Runs a tool in all its rounds, each on a new channel, and answers its questions by name. Throws when a side effect
 * happens in more than one round, when a question has no answer, or when the call fails. Requests through `fetch`, except
 * GET and HEAD, are counted automatically.
 *
 * @example
 * let created = 0
 * const { result, rounds } = await rehearse(server, 'order', { item: 'tea' }, { confirm: { sure: true } }, {
 *   effects: { 'orders created': () => created },
 * })
 */
export async function rehearse(
  service: Service,
  tool: string,
  args: Record<string, unknown>,
  answers: Record<string, unknown>,
  options: RehearseOptions = {},
): Promise<Rehearsal> {
  checkMembers('rehearse', options, { effects: 1, maxRounds: 1 })
  const watched = watchFetch()
  const effects: Record<string, () => number> = { ...options.effects, 'a request sent by fetch': watched.count }
  const happened = new Map<string, number>()
  const rounds: string[][] = []
  let additions: Params = {}
  try {
    for (let round = 1; round <= (options.maxRounds ?? 20); round++) {
      const before = Object.entries(effects).map(([name, count]) => [name, count()] as const)
      const result = await callOnce(service, { name: tool, arguments: args, ...additions }, round)
      for (const [name, count] of before) {
        if (effects[name]?.() === count) continue
        const earlier = happened.get(name)
        if (earlier !== undefined)
          throw new Error(
            `${name} happened in round ${earlier} and again in round ${round}: use ctx.once() for it, or move it after the last question`,
          )
        happened.set(name, round)
      }
      if (result.resultType !== 'input_required') return { result: result as unknown as CallToolResult, rounds }
      const questions = isObject(result.inputRequests) ? result.inputRequests : {}
      rounds.push(Object.keys(questions))
      additions = { inputResponses: answerAll(questions, answers), requestState: result.requestState }
    }
    throw new Error(`${tool} still asks questions after ${rounds.length} rounds`)
  } finally {
    watched.release()
  }
}

function answerAll(questions: Params, answers: Record<string, unknown>): Params {
  return Object.fromEntries(
    Object.entries(questions).map(([name, question]) => {
      if (!Object.hasOwn(answers, name)) throw new Error(`No answer was given for the question ${JSON.stringify(name)}`)
      const answer = answers[name]
      const isForm = isObject(question) && question.method === 'elicitation/create'
      return [name, isForm && !(isObject(answer) && 'action' in answer) ? { action: 'accept', content: answer } : answer]
    }),
  )
}

function callOnce(service: Service, params: Params, id: number): Promise<Params> {
  const revision = offerStateless(REVISIONS)
  const _meta = {
    [META.protocolVersion]: revision?.version,
    [META.clientInfo]: { name: 'rehearsal', version: '1' },
    [META.clientCapabilities]: { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} },
  }
  return new Promise((resolve, reject) => {
    const outlet: Outlet = {
      push: () => undefined,
      answer: (json) => {
        channel.close('The round is over')
        const { result, error } = JSON.parse(json) as { result?: Params; error?: { code: number; message: string } }
        if (result) resolve(result)
        else reject(new Error(`The call failed: ${error?.message} (${error?.code})`))
      },
      drop: () => {},
    }
    const channel = service.open({ outlet })
    channel.receive(classify({ jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, _meta } }), outlet)
  })
}

function watchFetch(): { count(): number; release(): void } {
  const { fetch } = globalThis
  let count = 0
  globalThis.fetch = (...args) => {
    const method = (args[1]?.method ?? (args[0] instanceof Request ? args[0].method : 'GET')).toUpperCase()
    if (method !== 'GET' && method !== 'HEAD') count++
    return fetch(...args)
  }
  return {
    count: () => count,
    release: () => {
      globalThis.fetch = fetch
    },
  }
}
