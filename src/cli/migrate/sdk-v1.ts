/** From version 1 of the official SDK: `@modelcontextprotocol/sdk`. */

import { callOf, functionOf, insertArguments, replaceNotification, replaceUse, showErrors, usesOf } from './handlers.ts'
import { moveClients } from './official-client.ts'
import {
  moveRegisterPrompt,
  moveRegisterTool,
  moveResource,
  moveServers,
  type OfficialSdk,
  schemaParts,
  serverNames,
} from './official-server.ts'
import { moveTransports, moveTypes, REASONS, todoOtherMembers } from './official-transports.ts'
import { type Program, rangeOf } from './program.ts'
import type { Node } from './syntax.ts'

const SDK: OfficialSdk = {
  modules: /^@modelcontextprotocol\/sdk(?:\/|$)/,
  moveContext(program, parameter, handler) {
    if (parameter.type) program.edits.replace({ start: parameter.name?.end ?? parameter.end, end: parameter.type.end }, '')
    for (const node of program.below(parameter)) program.consume(node)
    const pattern = parameter.name
    if (pattern?.text !== undefined) {
      for (const use of usesOf(program, pattern.text, handler)) moveUse(program, pattern.text, use)
      return
    }
    const context = program.uses('ctx').length === 0 ? 'ctx' : 'context'
    if (pattern) program.replace(pattern, context)
    for (const each of pattern?.elements ?? [])
      for (const use of usesOf(program, each.name?.text ?? '', handler))
        moveMember(program, use, (each.propertyName ?? each.name)?.text, context)
  },
}

/** `extra.signal` and the like. */
function moveUse(program: Program, context: string, use: Node): void {
  const access = use.parent
  if (program.is(access, 'PropertyAccessExpression') && access.expression === use) moveMember(program, access, access.name?.text, context)
  else program.todo(use, 'the context of Portico has other members; see docs/server.md')
}

/** @param use the expression that stands for the member */
function moveMember(program: Program, use: Node, member: string | undefined, context: string): void {
  if (member === 'signal') return replaceUse(program, use, `${context}.signal`)
  if (member === '_meta') return replaceUse(program, use, `${context}.meta`)
  const call = callOf(program, use)
  if (member === 'sendNotification' && call && replaceNotification(program, call, context)) return
  program.todo(use, CONTEXT_REASONS[member ?? ''] ?? `the context of Portico has no ${member ?? 'such member'}; see docs/server.md`)
}

const CONTEXT_REASONS: Readonly<Record<string, string>> = {
  sendNotification: 'report progress with progress(done, total, message), and log with log.info(data)',
  sendRequest: 'ask with elicit(name, message, schema), sample(name, params) or roots()',
  authInfo: 'the caller and its claims are in caller',
  sessionId: 'Portico has no session id in handlers; callId identifies the call',
  requestId: 'callId identifies the call',
}

export const isSdkV1 = (module: string): boolean => SDK.modules.test(module)

export function moveSdkV1(program: Program): void {
  const servers = serverNames(program, SDK)
  moveServers(program, SDK)
  for (const call of program.below(program.root)) {
    const callee = program.is(call, 'CallExpression') ? call.expression : undefined
    if (!program.is(callee, 'PropertyAccessExpression')) continue
    const isServer = program.is(callee.expression, 'Identifier') && servers.has(callee.expression.text ?? '')
    const method = callee.name?.text ?? ''
    if (method === 'registerTool') moveRegisterTool(program, SDK, call)
    else if (method === 'registerPrompt') moveRegisterPrompt(program, SDK, call)
    else if (method === 'registerResource' || (method === 'resource' && isServer)) moveResource(program, SDK, call)
    else if (method === 'tool' && isServer) moveOldTool(program, call)
    else if (method === 'prompt' && isServer) moveOldPrompt(program, call)
  }
  moveTransports(program, SDK, servers)
  moveClients(program, SDK)
  moveTypes(program, SDK)
  todoOtherMembers(program, servers)
  program.finishImports(SDK.modules, REASONS)
}

const HINTS = ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

/** `tool(name, description?, shape?, annotations?, handler)`. */
function moveOldTool(program: Program, call: Node): void {
  const given = call.arguments ?? []
  const middle = given.slice(1, -1)
  const parts: { name: string; node: Node }[] = []
  let hasInput = false
  for (const [i, node] of middle.entries()) {
    const names = [...(program.members(node)?.keys() ?? [])]
    const isObject = program.is(node, 'ObjectLiteralExpression')
    if (i === 0 && !isObject && isDescription(program, node)) parts.push({ name: 'description', node })
    else if (hasInput || (isObject && names.length > 0 && names.every((name) => HINTS.includes(name))))
      parts.push({ name: 'annotations', node })
    else {
      hasInput = true
      parts.push({ name: 'input', node })
    }
  }
  nameParts(program, parts)
  const handler = functionOf(program, given.at(-1))
  if (!handler) return
  const context = handler.parameters?.[hasInput ? 1 : 0]
  if (context) SDK.moveContext(program, context, handler)
  if (!hasInput) insertArguments(program, handler)
  showErrors(program, handler)
}

/** A description that is not a literal is a name of text. */
function isDescription(program: Program, node: Node): boolean {
  const value = program.is(node, 'Identifier') ? (program.declared(node.text) ?? node) : node
  return program.isText(value) || program.is(value, 'TemplateExpression', 'BinaryExpression')
}

/** `prompt(name, description?, shape?, handler)`. */
function moveOldPrompt(program: Program, call: Node): void {
  const given = call.arguments ?? []
  const parts = given.slice(1, -1).map((node, i) => ({ name: i === 0 && isDescription(program, node) ? 'description' : 'input', node }))
  const input = parts.find(({ name }) => name === 'input')
  if (parts.length === 0) program.edits.insert(given[0]?.end ?? call.end, ', {}')
  nameParts(program, parts)
  const handler = functionOf(program, given.at(-1))
  if (handler && !input) insertArguments(program, handler)
}

/** Puts arguments that stand next to each other into one object. */
function nameParts(program: Program, parts: readonly { name: string; node: Node }[]): void {
  const [first] = parts
  const last = parts.at(-1)
  if (!first || !last) return
  const members = parts.flatMap(({ name, node }, i) => [
    i === 0 ? '' : ', ',
    `${name}: `,
    ...(name === 'input' ? schemaParts(program, node) : [rangeOf(node)]),
  ])
  program.changes += 1
  program.edits.replace({ start: first.node.getStart(), end: last.node.end }, '{ ', ...members, ' }')
}
