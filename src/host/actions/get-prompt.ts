/** Gets a prompt through the gate, for the person or a model. */

import type { GetPromptResult } from '../../protocol/model/prompts.ts'
import { checkNames } from '../catalog/check-arguments.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import { PROMPT_RESULT } from '../conversation/flow/answers.ts'
import { labelsOfWords } from '../conversation/flow/result-labels.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { type UseOptions, useRequest } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { type AnswerSource, admitOutcome } from './admit-result.ts'
import { mayReadFiles } from './may-read-files.ts'
import { performUse, sendPinned } from './send-through-gate.ts'

export async function getPrompt(
  services: ActionServices,
  server: HostedServer,
  name: string,
  args: Readonly<Record<string, string>>,
  options: UseOptions,
): Promise<GetPromptResult> {
  checkNames(`prompt ${JSON.stringify(name)}`, args)
  await services.pins.refresh()
  const request: ActionRequest = {
    ...useRequest(server, 'prompt.get', options, () => ({ primitive: server.primitive('prompt', name), args })),
    subject: () => ({
      kind: 'prompt',
      name,
      args,
      isOwn: options.initiator === 'user',
      origins: options.conversation.flow().originsOf(args),
    }),
  }
  const primitive = { kind: 'prompt', name } as const
  const outcome = await performUse(services, request, options, () =>
    sendPinned(server, primitive, options, (client) => client.prompt(name, { ...args }, { signal: options.signal })),
  )
  const labels: AnswerSource['labels'] = (findings) => labelsOfWords(server.spec, { findings, mayContainFiles: mayReadFiles(server, args) })
  return admitOutcome(services, { server, kind: 'prompt.result', primitive, labels }, PROMPT_RESULT, outcome, options)
}
