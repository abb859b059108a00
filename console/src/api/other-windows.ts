/** A new window has no token. It asks the other windows of this console for a one-time code, so that links can be opened anywhere. */

import type { Api } from './client.ts'

const NAME = 'portico-console'

type Message = { kind: 'code-please'; to: string } | { kind: 'code'; to: string; code: string }

/** Answers new windows until the returned function is called. Only pages of this origin, with its port, can ask. */
export function answerOtherWindows(api: Api): () => void {
  const channel = new BroadcastChannel(NAME)
  channel.onmessage = async ({ data }: MessageEvent<Message>) => {
    if (data.kind !== 'code-please') return
    const made = await api.call('POST /api/session/codes').catch(() => undefined)
    if (made) channel.postMessage({ kind: 'code', to: data.to, code: made.code } satisfies Message)
  }
  return () => channel.close()
}

/** Undefined: no other window answered in time. */
export function askOtherWindows(timeoutMs = 600): Promise<string | undefined> {
  const channel = new BroadcastChannel(NAME)
  const to = crypto.randomUUID()
  return new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.kind !== 'code' || data.to !== to) return
      clearTimeout(timer)
      resolve(data.code)
    }
    channel.postMessage({ kind: 'code-please', to } satisfies Message)
  }).finally(() => channel.close())
}
