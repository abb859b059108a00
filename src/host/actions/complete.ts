/** Gets suggestions for an argument of a prompt or a template. */

import type { CompleteParams, Completion } from '../../protocol/model/completion.ts'
import { checkNames } from '../catalog/check-arguments.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import { COMPLETION } from '../conversation/flow/answers.ts'
import { labelsOfWords } from '../conversation/flow/result-labels.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { type UseOptions, useRequest } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { type AnswerSource, admitOutcome } from './admit-result.ts'
import { mayReadFiles } from './may-read-files.ts'
import { performUse, sendPinned } from './send-through-gate.ts'

/** Suggests values while an argument is typed. It needs the same approval as the use of the prompt or template. */
export async function complete(
  services: ActionServices,
  server: HostedServer,
  params: CompleteParams,
  options: UseOptions,
): Promise<Completion> {
  const { ref, argument, context } = params
  const [kind, name] = ref.type === 'ref/prompt' ? (['prompt', ref.name] as const) : (['template', ref.uri] as const)
  const args = { ...context?.arguments, [argument.name]: argument.value }
  checkNames(JSON.stringify(name), args)
  const request: ActionRequest = {
    ...useRequest(server, 'argument.complete', options, () => ({ primitive: server.primitive(kind, name), args })),
    subject: () => ({
      kind: 'complete',
      of: name,
      argument: argument.name,
      value: argument.value,
      isOwn: options.initiator === 'user',
      origins: options.conversation.flow().originsOf(args),
    }),
  }
  const outcome = await performUse(services, request, options, () =>
    sendPinned(server, { kind, name }, options, (client) => client.complete(params, { signal: options.signal })),
  )
  // Suggestions are cut and labelled, but there are no questions about them: the person is typing.
  const labels: AnswerSource['labels'] = (findings) => labelsOfWords(server.spec, { findings, mayContainFiles: mayReadFiles(server, args) })
  return admitOutcome(services, { server, kind: undefined, primitive: { kind, name }, labels }, COMPLETION, outcome, options)
}
