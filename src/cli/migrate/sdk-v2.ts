/** From version 2 of the official SDK: `@modelcontextprotocol/server`, `/client` and `/node`. */

import { callOf, replaceNotification, usesOf } from './handlers.ts'
import { moveClients } from './official-client.ts'
import { moveRegisterPrompt, moveRegisterTool, moveResource, moveServers, type OfficialSdk, serverNames } from './official-server.ts'
import { moveTransports, moveTypes, REASONS, todoOtherMembers } from './official-transports.ts'
import { type Program, rangeOf } from './program.ts'
import type { Node } from './syntax.ts'

const SDK: OfficialSdk = {
  modules: /^@modelcontextprotocol\/(?:server|client|node|core|express|hono|fastify)(?:\/|$)/,
  moveContext(program, parameter, handler) {
    if (parameter.type) program.edits.replace({ start: parameter.name?.end ?? parameter.end, end: parameter.type.end }, '')
    for (const node of program.below(parameter)) program.consume(node)
    const name = parameter.name?.text
    if (name === undefined) {
      program.todo(parameter, 'the second parameter is the context of Portico; take what you need from it')
      return
    }
    for (const use of usesOf(program, name, handler)) moveUse(program, name, use)
  },
}

function moveUse(program: Program, name: string, use: Node): void {
  const group = use.parent
  const access = group.parent
  const isRequest = program.is(group, 'PropertyAccessExpression') && group.name?.text === 'mcpReq'
  const member = isRequest && program.is(access, 'PropertyAccessExpression') && access.expression === group ? access.name?.text : undefined
  const call = member === undefined ? undefined : callOf(program, access)
  if (member === 'signal') return program.replace(access, `${name}.signal`)
  if (member === '_meta') return program.replace(access, `${name}.meta`)
  if (member === 'notify' && call && replaceNotification(program, call, name)) return
  const [level, data, ...more] = call?.arguments ?? []
  if (member === 'log' && call && program.isText(level) && data && more.length === 0)
    return program.replace(call, `${name}.log.${level.text}(`, rangeOf(data), ')')
  program.todo(use, CONTEXT_REASONS[member ?? ''] ?? 'the context of Portico has other members; see docs/server.md')
}

const CONTEXT_REASONS: Readonly<Record<string, string>> = {
  notify: 'report progress with progress(done, total, message), and log with log.info(data)',
  send: 'ask with elicit(name, message, schema), sample(name, params) or roots()',
  elicitInput: 'ask with elicit(name, message, schema): it returns the content, and throws Declined or Cancelled',
  requestSampling: 'ask the model of the client with sample(name, params)',
  inputResponses: 'Portico keeps the rounds: ask with elicit(name, message, schema) where you need the answer',
  requestState: 'Portico keeps the state of rounds: put steps that must happen once into once(name, step)',
}

export const isSdkV2 = (module: string): boolean => SDK.modules.test(module)

export function moveSdkV2(program: Program): void {
  const servers = serverNames(program, SDK)
  moveServers(program, SDK)
  for (const call of program.below(program.root)) {
    const callee = program.is(call, 'CallExpression') ? call.expression : undefined
    if (program.isImported(callee, 'serveStdio', SDK.modules)) moveServeStdio(program, call)
    if (!program.is(callee, 'PropertyAccessExpression')) continue
    const method = callee.name?.text ?? ''
    if (method === 'registerTool') moveRegisterTool(program, SDK, call)
    else if (method === 'registerPrompt') moveRegisterPrompt(program, SDK, call)
    else if (method === 'registerResource') moveResource(program, SDK, call)
  }
  moveTransports(program, SDK, servers)
  moveClients(program, SDK)
  moveTypes(program, SDK)
  todoOtherMembers(program, servers)
  program.finishImports(SDK.modules, REASONS)
}

/** The SDK takes a function that makes a server for each connection. One server of Portico serves all. */
function moveServeStdio(program: Program, call: Node): void {
  const [make, ...more] = call.arguments ?? []
  if (!make) return
  program.consume(call.expression)
  program.add('portico/stdio', 'serveStdio')
  if (more[0]) program.todo(call, 'serveStdio of Portico has other options; see docs/options.md')
  const body = program.is(make, 'ArrowFunction') && !program.is(make.body, 'Block') ? make.body : undefined
  program.changes += 1
  if (body) program.edits.replace(rangeOf(make), rangeOf(body))
  else if (program.is(make, 'Identifier')) program.edits.insert(make.end, '()')
  else program.edits.replace(rangeOf(make), '(', rangeOf(make), ')()')
}
