/** Tools that the person accepts as read-only: they believe the claim of the tool. */

import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { AuditLog } from '../model/audit-record.ts'
import { type Primitive, pinOf } from './pin.ts'
import type { PinStore } from './pin-store.ts'

/** An approved tool that claims to only read. */
export interface ReadOnlyTool {
  name: string
  /** Whether the person believes it. */
  isAccepted: boolean
}

/** Whether a definition claims that the tool only reads, without contradicting itself. */
export const claimsReadOnly = (definition: unknown): boolean => {
  const { readOnlyHint, destructiveHint } = (definition as Partial<Tool> | undefined)?.annotations ?? {}
  return readOnlyHint === true && destructiveHint !== true
}

/**
 * The approved tools of a server that claim to only read.
 * @example
 * const accepted = readOnlyTools(await openPins({ file }), 'files').filter(({ isAccepted }) => isAccepted)
 */
export function readOnlyTools(pins: PinStore, server: string): ReadOnlyTool[] {
  const baseline = pins.list().find((each) => each.server === server)
  return (baseline?.items ?? [])
    .filter(({ kind, definition }) => kind === 'tool' && claimsReadOnly(definition))
    .map(({ name, definition }) => ({
      name,
      isAccepted: baseline?.readOnly?.some((each) => each.name === name && each.pin === pinOf(definition)) ?? false,
    }))
}

export interface ReadOnlyServices {
  pins: PinStore
  audit: Pick<AuditLog, 'intent'>
  principal: string
  ownConversation: { readonly id: string }
}

/**
 * Stores that the person believes the claims of these tools, or no longer does, and records it.
 * @throws McpError ERR_CONFIG for a tool that is not approved, or does not claim to only read
 */
export async function acceptReadOnly(
  { pins, audit, principal, ownConversation }: ReadOnlyServices,
  server: string,
  tools: readonly string[],
  isRevoked: boolean,
): Promise<void> {
  await pins.refresh()
  const found = findTools(pins, server, tools, isRevoked)
  const intent = await audit.intent({
    action: 'server.approve',
    principal,
    run: ownConversation.id,
    initiator: 'user',
    server,
    fingerprint: pins.adopted(server)?.fingerprint ?? '',
    effect: 'allow',
    reasons: [`You ${isRevoked ? 'no longer accept' : 'accepted'} these tools as read-only: ${tools.join(', ')}`],
  })
  await pins.acceptReadOnly(server, found, isRevoked)
  await intent.outcome({ kind: 'done', durationMs: 0 })
}

function findTools(pins: PinStore, server: string, tools: readonly string[], isRevoked: boolean): Primitive[] {
  const items = pins.list().find((each) => each.server === server)?.items ?? []
  return tools.map((name) => {
    const item = items.find((each) => each.kind === 'tool' && each.name === name)
    if (!item) throw new McpError('ERR_CONFIG', `${server} has no approved tool ${JSON.stringify(name)}`)
    if (!isRevoked && !claimsReadOnly(item.definition))
      throw new McpError('ERR_CONFIG', `The tool ${JSON.stringify(name)} of ${server} does not say that it only reads (readOnlyHint)`)
    return item
  })
}
