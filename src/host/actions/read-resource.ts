/** Reads a resource, and subscribes to its changes. */

import type { ReadResourceResult } from '../../protocol/model/resources.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import { READ_RESULT } from '../conversation/flow/answers.ts'
import { labelsOfResource } from '../conversation/flow/result-labels.ts'
import type { ActionPrimitive } from '../model/action.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { type UseOptions, useRequest } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { type AnswerSource, admitError, admitOutcome } from './admit-result.ts'
import { readSkillFile } from './load-skill.ts'
import { mayReadFilesAt } from './may-read-files.ts'
import { performUse, sendPinned } from './send-through-gate.ts'

export interface ResourceTarget {
  server: HostedServer
  uri: string
  /** The template that the URI matches, for a resource that is not listed. */
  template: string | undefined
}

export async function readResource(services: ActionServices, target: ResourceTarget, options: UseOptions): Promise<ReadResourceResult> {
  const { server, uri } = target
  // The text of a skill reaches a model only after its approval, whichever way it is read.
  const skill = server.skillWith(uri)
  if (skill) return readSkillFile(services, server, skill, uri, options)
  await services.pins.refresh()
  const outcome = await performUse(services, resourceRequest('resource.read', target, options), options, () =>
    sendPinned(server, primitiveOf(target), options, (client) => client.read(uri, { signal: options.signal })),
  )
  return admitOutcome(services, sourceOf(target), READ_RESULT, outcome, options)
}

/** Resolves with the function that ends the subscription. */
export async function subscribe(
  services: ActionServices,
  target: ResourceTarget,
  listener: (uri: string) => void,
  options: UseOptions,
): Promise<() => void> {
  const { server, uri } = target
  await services.pins.refresh()
  const outcome = await performUse(services, resourceRequest('resource.subscribe', target, options), options, async () => {
    await server.checkPinned(primitiveOf(target))
    return server.subscribe(uri, listener)
  })
  if (!('error' in outcome)) return outcome.value
  await admitError(services, sourceOf(target), outcome, options)
  throw outcome.error
}

export const resourceRequest = (
  kind: 'resource.read' | 'resource.subscribe',
  target: ResourceTarget,
  options: UseOptions,
): ActionRequest => ({
  ...useRequest(target.server, kind, options, () => ({ primitive: primitiveOf(target), args: { uri: target.uri } })),
  subject: () => ({
    kind: 'read',
    uri: target.uri,
    isSubscription: kind === 'resource.subscribe',
    origins: options.conversation.flow().originsOf({ uri: target.uri }),
  }),
})

export const primitiveOf = ({ server, uri, template }: ResourceTarget): ActionPrimitive =>
  template === undefined ? server.primitive('resource', uri) : server.primitive('template', template)

function sourceOf(target: ResourceTarget): AnswerSource {
  const { server, uri, template } = target
  const { kind, name } = primitiveOf(target)
  const labels: AnswerSource['labels'] = (findings) =>
    labelsOfResource(server.spec, uri, { findings, mayContainFiles: mayReadFilesAt(server, uri, template) })
  return { server, kind: 'resource.result', primitive: { kind, name }, source: uri, labels }
}
