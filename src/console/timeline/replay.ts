/** Plays a recording against a server of the host. Everything that the policy decides about goes through the gate. */

import { isObject } from '../../base/json.ts'
import { Client, type CompleteParams, McpError, memoryTarget, RemoteError, type Target } from '../../client/index.ts'
import type { Conversation, Host } from '../../host/index.ts'
import { httpTarget } from '../../http/index.ts'
import { processTarget } from '../../stdio/index.ts'
import { type ReplayResult, type ReplaySender, replayTranscript, type Transcript } from '../../testing/index.ts'
import { BY_PERSON } from '../services.ts'

type Params = Record<string, unknown>
type UseOptions = { signal: AbortSignal; conversation: Conversation }

/** Lists show only what the host itself lists once a server may be connected to. They use a connection without a cache. */
const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'] as const

/** Requests that the host decides about one by one. */
const DECIDED: Readonly<Record<string, (host: Host, server: string, params: Params, options: UseOptions) => Promise<unknown>>> = {
  'tools/call': (host, server, { name, arguments: args }, options) =>
    host.call({ server, name: text(name) }, isObject(args) ? args : {}, { ...BY_PERSON, ...options }),
  // With the name of the server, so that no other server with the same address is read.
  'resources/read': (host, server, { uri }, options) => host.read(`${server}+${text(uri)}`, { ...BY_PERSON, ...options }),
  'prompts/get': (host, server, { name, arguments: args }, options) =>
    host.prompt({ server, name: text(name) }, textsIn(args), { ...BY_PERSON, ...options }),
  'completion/complete': async (host, server, params, options) => ({
    completion: await host.complete(server, params as unknown as CompleteParams, { ...BY_PERSON, ...options }),
  }),
}

/** Others are left out: a recording may come from someone else, and the policy has no word about them. */
const METHODS: ReadonlySet<string> = new Set([...LISTS, ...Object.keys(DECIDED)])

/** The JSON-RPC code of answers that the host gives in place of the server. */
const REFUSED = -32_603

export interface ReplayFacts extends UseOptions {
  host: Host
  server: string
  transcript: Transcript
  withCalls: boolean
}

/** All requests belong to one conversation: what one of them read may not leave with the next unseen. */
export async function replayThroughHost({ host, server, transcript, withCalls, conversation, signal }: ReplayFacts): Promise<ReplayResult> {
  const { transport, authorize, scrub } = await host.permitDirect(server, { signal })
  const target = (): Target => {
    switch (transport.type) {
      case 'stdio':
        return processTarget({ ...transport, restarts: false })
      case 'http':
        return httpTarget(transport.url, { headers: transport.headers, ...(authorize && { authorize }) })
      case 'memory':
        return memoryTarget(transport.service)
    }
  }
  const client = await Client.connect(target(), { signal })
  const sender: ReplaySender = {
    request: (method, params, options) => {
      const decided = DECIDED[method]
      return decided ? decided(host, server, params, { ...options, conversation }).catch(asAnswer) : client.request(method, params, options)
    },
  }
  try {
    return await replayTranscript(transcript, sender, { signal, withCalls, methods: METHODS, scrub })
  } finally {
    await client.close()
  }
}

/** One refusal is one changed answer: the other requests are still sent. */
function asAnswer(error: unknown): never {
  if (error instanceof McpError) throw new RemoteError({ code: REFUSED, message: error.message })
  throw error
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const textsIn = (args: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(isObject(args) ? args : {}).map(([name, value]) => [name, String(value)]))
