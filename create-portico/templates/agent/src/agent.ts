/** The agent: a host with servers and a model. The policy of the host decides what the model may do, and when you are asked. */

import { type Asker, createHost, type Host, type HostOptions } from 'portico/host'

export interface AgentOptions {
  servers: NonNullable<HostOptions['servers']>
  model: NonNullable<HostOptions['model']>
  /** Shows a question to the person and returns the answer. */
  ask: Asker
  /** Where approvals and the audit log are stored. Default: a folder of the user. */
  folder?: string
}

export async function createAgent({ servers, model, ask, folder }: AgentOptions): Promise<Host> {
  const host = await createHost({
    servers,
    model,
    ask,
    ...(folder !== undefined && { folder }),
    info: { name: 'NAME_OF_THE_PROJECT', version: '0.1.0' },
  })
  await host.settled()
  return host
}

/** Sends a message and returns the answer. `onAct` is called for each call of a tool. */
export async function answer(host: Host, message: string, onAct: (tool: string) => void = () => {}): Promise<string> {
  let text = ''
  for await (const part of host.chat(message)) {
    if (part.type === 'text') text += part.text
    else if (part.type === 'tool-call') onAct(part.name)
    else if (part.type === 'error') throw part.error
  }
  return text
}
