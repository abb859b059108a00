/** People and models that decide and answer as a test says, for the broker. */

import type { Model, ModelPart, ModelRequest } from '../../../src/host/language-models/language-model.ts'
import type { Broker, SamplingDelivery, SamplingGate, SamplingRequest } from '../../../src/host/sampling/broker.ts'
import type { CreateMessageParams, CreateMessageResult } from '../../../src/protocol/model/sampling.ts'

export interface OpenGate extends SamplingGate {
  created: SamplingRequest[]
  delivered: SamplingDelivery[]
}

/** Lets everything through, as the edits say, and keeps what it was shown. */
export function openGate(
  edit: { create?(params: CreateMessageParams): unknown; deliver?(result: CreateMessageResult): unknown } = {},
): OpenGate {
  const created: SamplingRequest[] = []
  const delivered: SamplingDelivery[] = []
  return {
    created,
    delivered,
    create: async (request, perform) => {
      created.push(request)
      return perform(((await edit.create?.(request.params)) ?? request.params) as CreateMessageParams)
    },
    deliver: async (delivery, perform) => {
      delivered.push(delivery)
      return perform(((await edit.deliver?.(delivery.result)) ?? delivery.result) as CreateMessageResult)
    },
  }
}

export interface SpyModel extends Model {
  asked: ModelRequest[]
}

const END: ModelPart = { type: 'end', reason: 'endTurn', usage: { inputTokens: 10, outputTokens: 5 } }

/** Says these parts, and keeps what it was asked. */
export function spyModel(parts: readonly ModelPart[] = [{ type: 'text', text: 'hello' }, END], id = 'spy'): SpyModel {
  const asked: ModelRequest[] = []
  return {
    id,
    label: `the ${id}`,
    asked,
    async *stream(request) {
      asked.push(request)
      yield* parts
    },
  }
}

/** Says nothing until it is let go, and stops when its signal does. */
export function heldModel(): Model & { running(): number; stopped(): number; release(): void } {
  let running = 0
  let stopped = 0
  const waiting: (() => void)[] = []
  return {
    id: 'held',
    label: 'held',
    running: () => running,
    stopped: () => stopped,
    release: () => {
      for (const go of waiting.splice(0)) go()
    },
    async *stream(_request, signal) {
      running++
      try {
        await new Promise<void>((resolve, reject) => {
          waiting.push(resolve)
          signal.addEventListener('abort', () => {
            stopped++
            reject(signal.reason)
          })
        })
        yield END
      } finally {
        running--
      }
    },
  }
}

export const question = (text = 'What is the capital of France?', more: Partial<CreateMessageParams> = {}): CreateMessageParams => ({
  messages: [{ role: 'user', content: { type: 'text', text } }],
  maxTokens: 100,
  ...more,
})

/** One request of a server, without a server. */
export const ask = async (
  broker: Broker,
  server: string,
  params: CreateMessageParams = question(),
  signal: AbortSignal = new AbortController().signal,
): Promise<CreateMessageResult> => broker.answerFor(server).handler(params, { server, signal })
