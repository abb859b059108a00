/** Sampling passes the gate twice: before the model is called, and before the server gets the answer. */

import type { CreateMessageResult } from '../../protocol/model/sampling.ts'
import type { UsageCounter } from '../consent/usage.ts'
import type { SamplingGate } from '../sampling/broker.ts'
import { checkSamplingParams, checkSamplingResult } from '../sampling/request.ts'
import type { Sampled } from '../sampling/sample.ts'
import type { HostedServer } from './hosted-server.ts'
import { serverRequest } from './server-request.ts'
import type { ServerServices } from './server-services.ts'

export interface SamplingGateServices extends Pick<ServerServices, 'gate' | 'ownConversation' | 'taskOf'> {
  usage: Pick<UsageCounter, 'spend'>
}

export function samplingGate(services: SamplingGateServices, serverOf: (id: string) => HostedServer): SamplingGate {
  const { gate, usage } = services
  return {
    create: ({ server: id, params, model, budget: { tokensLeft, requestsLeft }, signal, task }, perform) => {
      let edited = params
      const action = serverRequest(services, serverOf(id), 'sampling.create', () => ({ ...edited, model: model.id }), {
        subject: () => ({ kind: 'sample', params, model: model.label, budget: { tokensLeft, requestsLeft } }),
        // A person who answers in place of a model sees the whole request when they write the answer, and can decline it there.
        initiator: model.isPerson ? 'user' : 'server',
        isAskedByServer: true,
        edit: (given) => {
          edited = checkSamplingParams(given)
        },
        signal,
        task,
      })
      return gate.run<Sampled>(
        action,
        async () => {
          const sampled = await perform(edited)
          usage.spend(id, sampled.tokens)
          return sampled
        },
        ({ tokens }) => ({ tokens }),
      )
    },
    deliver: ({ server: id, params, result, model, signal, task }, perform) => {
      let edited: CreateMessageResult = result
      const action = serverRequest(services, serverOf(id), 'sampling.deliver', () => ({ ...edited }), {
        subject: () => ({ kind: 'sampled', params, result }),
        initiator: model.isPerson ? 'user' : 'server',
        isAskedByServer: true,
        edit: (given) => {
          edited = checkSamplingResult(given)
        },
        signal,
        task,
      })
      return gate.run(action, () => perform(edited))
    },
  }
}
