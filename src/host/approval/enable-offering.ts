/** Takes the first offering of a server that the person enabled into use, except for the items with warnings. */

import type { Tool } from '../../protocol/model/tools.ts'
import type { ActionRequest } from '../consent/gate/gate.ts'
import type { EnabledOffering } from '../model/event.ts'
import type { Offering } from '../model/offering.ts'
import type { ApprovedItem } from '../model/question.ts'
import { keyOf } from './comparison.ts'
import type { OtherName } from './name-warnings.ts'
import { approvalAction, reviewInTurns } from './review.ts'
import type { ReviewedServer, ReviewServices } from './reviewed-server.ts'

export interface EnableOptions {
  /** The offering to take into use. If the server lists another one meanwhile, neither is taken into use. */
  offering: Offering
  others: readonly OtherName[]
  signal: AbortSignal
}

/** Undefined if a rule wants a question, or the server has changed its offering: the person is then asked about all of it. */
export async function enableOffering(
  server: ReviewedServer,
  parts: ReviewServices,
  { offering, others, signal }: EnableOptions,
): Promise<EnabledOffering | undefined> {
  const shown = await reviewInTurns(server, parts, others)
  if (!shown || server.offering !== offering) return undefined
  const { items } = shown.review
  const clean = items.filter(({ flags }) => flags.length === 0)
  const names = new Set(clean.map(keyOf))
  const request: ActionRequest = {
    describe: () => ({
      ...approvalAction(server, parts, (name) => names.has(name)),
      ...(server.offering === offering && { isFirstOffering: true }),
    }),
    subject: () => ({ kind: 'approve', items: clean, isFirst: true }),
    server: server.shown,
    chain: ['you'],
    signal,
  }
  const { action, decision } = await parts.gate.evaluate(request)
  if (decision.effect !== 'allow' || action.primitive?.pin !== shown.digest) return undefined
  // The definitions that were examined are approved, not those that the server may list by then.
  await parts.gate.run(request, () => parts.pins.approve(server.facts, clean, parts.wallNow()))
  return summaryOf(server.id, offering, clean, items.length - clean.length)
}

function summaryOf(server: string, { resources }: Offering, enabled: readonly ApprovedItem[], held: number): EnabledOffering {
  const count = (kind: ApprovedItem['kind']): number => enabled.filter((item) => item.kind === kind).length
  const claims = enabled.filter(({ kind, definition }) => kind === 'tool' && (definition as Tool).annotations?.readOnlyHint === true)
  return {
    server,
    tools: count('tool'),
    prompts: count('prompt'),
    resources: resources.length + count('template'),
    readOnly: claims.length,
    held,
  }
}
