/** The client of the official SDK, versions 1 and 2. */

import { callOf } from './handlers.ts'
import type { OfficialSdk } from './official-server.ts'
import { type Program, rangeOf } from './program.ts'
import type { Node } from './syntax.ts'

const TRANSPORTS = ['StdioClientTransport', 'StreamableHTTPClientTransport', 'SSEClientTransport']

export function moveClients(program: Program, sdk: OfficialSdk): void {
  for (const node of [...program.below(program.root)]) {
    const made = program.is(node, 'VariableDeclaration') ? node.initializer : undefined
    if (program.is(made, 'NewExpression') && program.isImported(made.expression, 'Client', sdk.modules))
      moveClient(program, sdk, node, made)
  }
}

function moveClient(program: Program, sdk: OfficialSdk, declaration: Node, made: Node): void {
  const name = declaration.name?.text ?? ''
  const uses = program.uses(name).filter((use) => use.parent !== declaration)
  const calls = uses.map((use) => ({
    use,
    access: use.parent,
    member: program.is(use.parent, 'PropertyAccessExpression') ? use.parent.name?.text : undefined,
  }))
  const connecting = calls.filter(({ member }) => member === 'connect')
  const call = connecting[0] && callOf(program, connecting[0].access)
  const statement = program.statementOf(declaration)
  const target = call?.arguments?.[0]
  const transport = program.is(target, 'Identifier') ? program.declared(target.text) : target
  const isFirst = calls[0]?.member === 'connect'
  if (
    !call ||
    connecting.length > 1 ||
    !isFirst ||
    !transport ||
    program.statementOf(call).parent !== statement.parent ||
    !isTransport(program, sdk, transport)
  ) {
    program.todo(
      made,
      'connect of portico makes the client and connects it: const client = await connect(url or { command, args }, options)',
    )
    return
  }
  const [info, options] = made.arguments ?? []
  const capabilities = program.members(program.valueOf(program.members(options)?.get('capabilities')))
  if (options && (capabilities?.size !== 0 || program.members(options)?.size !== 1))
    program.todo(
      call,
      'give connect the handlers that the capabilities were for: { answer: { elicit, sample, roots } }. See docs/client.md',
    )
  if (transport.arguments && transport.arguments.length > 1)
    program.todo(call, 'headers go to { http: { headers } }, a login to { auth: oauth() } of portico/auth')
  program.removeStatement(statement)
  if (transport !== target) program.removeStatement(program.statementOf(transport))
  program.consume(made.expression)
  program.consume(transport.expression)
  const connect = program.add('portico', 'connect')
  const place = transport.arguments?.[0]
  const whole = program.is(call.parent, 'AwaitExpression') ? call.parent : call
  const keyword = /^(?:const|let|var)\b/.exec(statement.getText())?.[0] ?? 'const'
  program.replace(
    whole,
    `${keyword} ${name} = await ${connect}(`,
    place ? rangeOf(place) : '',
    ...(info ? [', { info: ', rangeOf(info), ' }'] : []),
    ')',
  )
  for (const { use, access, member } of calls) if (member !== 'connect') moveCall(program, use, access, member)
}

const isTransport = (program: Program, sdk: OfficialSdk, node: Node): boolean =>
  program.is(node, 'NewExpression') && TRANSPORTS.some((name) => program.isImported(node.expression, name, sdk.modules))

const LISTS: Readonly<Record<string, [method: string, member: string]>> = {
  listTools: ['tools', 'tools'],
  listResources: ['resources', 'resources'],
  listResourceTemplates: ['resourceTemplates', 'resourceTemplates'],
  listPrompts: ['prompts', 'prompts'],
}

const FACTS: Readonly<Record<string, string>> = {
  getServerVersion: 'server.info',
  getServerCapabilities: 'server.capabilities',
  getInstructions: 'server.instructions',
}

/** Methods that take one object in the SDK and its members here. */
const REQUESTS: Readonly<Record<string, [method: string, ...members: string[]]>> = {
  callTool: ['call', 'name', 'arguments'],
  readResource: ['read', 'uri'],
  getPrompt: ['prompt', 'name', 'arguments'],
}

function moveCall(program: Program, use: Node, access: Node, member: string | undefined): void {
  const call = callOf(program, access)
  if (member === 'close' || (member === 'ping' && call?.arguments?.length === 0)) return
  const list = LISTS[member ?? '']
  if (call && list && call.arguments?.length === 0) return moveList(program, call, use, list)
  const fact = FACTS[member ?? '']
  if (call && fact) return program.replace(call, `${use.getText()}.${fact}`)
  const request = REQUESTS[member ?? '']
  if (call && request && moveRequest(program, call, access, request)) return
  if (member === 'setLoggingLevel') return program.replace(access.name as Node, 'setLogLevel')
  program.todo(use, `the client of Portico has no ${member ?? 'such use'} of this form; see docs/client.md`)
}

function moveList(program: Program, call: Node, use: Node, [method, member]: [string, string]): void {
  const all = `await ${use.getText()}.${method}().all()`
  const outer = program.is(call.parent, 'AwaitExpression') ? call.parent : undefined
  const bound = outer && program.is(outer.parent, 'VariableDeclaration') ? outer.parent.name : undefined
  const isOnly = bound?.elements?.length === 1 && bound.elements[0]?.name?.text === member && !bound.elements[0]?.propertyName
  if (outer && bound && isOnly) {
    program.replace(bound, member)
    program.replace(outer, all)
    return
  }
  if (!outer) return program.todo(call, `${method}() of Portico is a list: await it with ${method}().all()`)
  const whole = program.is(outer.parent, 'ParenthesizedExpression') ? outer.parent : outer
  const access = program.is(whole.parent, 'PropertyAccessExpression') && whole.parent.name?.text === member ? whole.parent : undefined
  const isInitial = program.is(whole.parent, 'VariableDeclaration')
  if (access) program.replace(access, program.is(access.parent, 'VariableDeclaration') ? all : `(${all})`)
  else program.replace(whole, isInitial ? `{ ${member}: ${all} }` : `({ ${member}: ${all} })`)
}

function moveRequest(program: Program, call: Node, access: Node, [method, ...members]: [string, ...string[]]): boolean {
  const given = program.members(call.arguments?.[0])
  if (!given || call.arguments?.length !== 1 || [...given.keys()].some((name) => !members.includes(name))) return false
  const values = members.flatMap((name) => program.valueOf(given.get(name)) ?? [])
  program.replace(access.name as Node, method)
  program.replace(call.arguments[0] as Node, ...values.flatMap((value, i) => [i === 0 ? '' : ', ', rangeOf(value)]))
  return true
}
