/** Limits that follow from several options of a host: one option must not be cut short by a fixed limit. */

import { DEFAULT_GATE_LIMITS, type GateLimits } from '../consent/gate/gate.ts'
import { type AllChatLimits, type ChatLimits, FIXED_CHAT_LIMITS } from '../conversation/chat/limits.ts'
import { type BrokerLimits, FIXED_BROKER_LIMITS, type FixedBrokerLimits } from '../sampling/broker.ts'

/** The part of a host's limits that is needed here. */
interface GivenLimits {
  chat?: Partial<ChatLimits>
  client?: { maxTotalMs?: number }
  gate?: Partial<GateLimits>
  sampling?: Partial<BrokerLimits>
}

/** The time for the call itself, after the last question about it. */
const AFTER_QUESTION_MS = 5 * 60_000

const questionMs = ({ gate }: GivenLimits): number => gate?.questionTimeoutMs ?? DEFAULT_GATE_LIMITS.questionTimeoutMs

/** A call may take as long as its question waits plus a while, or as long as its request. */
export const chatLimits = (limits: GivenLimits): Partial<AllChatLimits> => ({
  ...limits.chat,
  ...FIXED_CHAT_LIMITS,
  callTimeoutMs: Math.max(FIXED_CHAT_LIMITS.callTimeoutMs, questionMs(limits) + AFTER_QUESTION_MS, limits.client?.maxTotalMs ?? 0),
})

/** A person who answers in place of a model may take as long as for any other question. */
export const samplingLimits = (limits: GivenLimits): Partial<BrokerLimits & FixedBrokerLimits> => ({
  ...limits.sampling,
  ...FIXED_BROKER_LIMITS,
  maxAnswerMs: Math.max(FIXED_BROKER_LIMITS.maxAnswerMs, questionMs(limits)),
})
