/** From FastMCP: `fastmcp`. */

import type { Part } from './edits.ts'
import { callOf, replaceUse, showErrors, usesOf } from './handlers.ts'
import { type Program, rangeOf } from './program.ts'
import type { Node } from './syntax.ts'

const MODULES = /^fastmcp$/

const REASONS: Readonly<Record<string, string>> = {
  imageContent: 'use image(bytes, mimeType) of portico/server; it takes bytes or base64 text, no URL or path',
  audioContent: 'use audio(bytes, mimeType) of portico/server; it takes bytes or base64 text, no URL or path',
  EdgeFastMCP: 'serve with httpHandler(server).fetch of portico/http',
}

export const isFastMcp = (module: string): boolean => MODULES.test(module)

export function moveFastMcp(program: Program): void {
  const servers = new Set<string>()
  for (const node of program.below(program.root)) {
    if (!program.is(node, 'NewExpression') || !program.isImported(node.expression, 'FastMCP', MODULES)) continue
    if (program.is(node.parent, 'VariableDeclaration')) servers.add(node.parent.name?.text ?? '')
    moveConstructor(program, node)
  }
  for (const node of program.below(program.root)) {
    if (
      !program.is(node, 'PropertyAccessExpression') ||
      !program.is(node.expression, 'Identifier') ||
      !servers.has(node.expression.text ?? '')
    )
      continue
    const call = callOf(program, node)
    const move = call && MOVES[node.name?.text ?? '']
    if (call && move) move(program, call)
    else program.todo(node, `a server of Portico has no ${node.name?.text}; see docs/server.md`)
  }
  program.finishImports(MODULES, REASONS)
}

function moveConstructor(program: Program, node: Node): void {
  const [options] = node.arguments ?? []
  const others = [...(program.members(options)?.keys() ?? [])].filter((name) => !['name', 'version', 'instructions'].includes(name))
  if (others.length > 0)
    program.todo(node, `createServer has no ${others.join(', ')}; authentication and health belong to listen. See docs/http.md`)
  program.replace(node, `${program.add('portico/server', 'createServer')}(`, ...(options ? [rangeOf(options)] : []), ')')
  program.consume(node.expression)
  for (const each of program.children(node))
    if (program.is(each, 'TypeReference', 'TypeLiteral')) program.todo(node, 'a server of Portico has no session type; see ctx.caller')
}

const MOVES: Readonly<Record<string, (program: Program, call: Node) => void>> = {
  addTool: (program, call) => {
    const members = definitionOf(program, call)
    const handler =
      members && moveDefinition(program, call, 'tool', { members, first: 'name', handler: 'execute', names: { parameters: 'input' } })
    if (!members || !handler) return
    const context = handler.parameters?.[1]
    if (context) moveContext(program, context, handler)
    if (members.has('canAccess')) program.todo(call, 'replace canAccess by scopes: the caller needs them to see and use the tool')
    showErrors(program, handler, 'UserError')
  },
  addResource: (program, call) => {
    const members = definitionOf(program, call)
    const handler = members && moveDefinition(program, call, 'resource', { members, first: 'uri', handler: 'load', names: {} })
    if (handler) moveLoaded(program, handler)
  },
  addResourceTemplate: (program, call) => {
    const members = definitionOf(program, call)
    if (!members) return
    const variables = members.get('arguments')
    if (variables?.getText().includes('complete'))
      program.todo(call, 'move completions to the definition: { complete: { variable: () => [...] } }')
    members.delete('arguments')
    const handler = moveDefinition(program, call, 'resource', { members, first: 'uriTemplate', handler: 'load', names: {} })
    if (handler) moveLoaded(program, handler)
  },
  addPrompt: (program, call) => {
    const members = definitionOf(program, call)
    if (!members) return
    const given = members.get('arguments')
    members.delete('arguments')
    const input = given && promptInput(program, program.valueOf(given))
    if (given && input === undefined) program.todo(call, 'write the arguments as a schema: { input: z.object({ name: z.string() }) }')
    if (given?.getText().includes('complete'))
      program.todo(call, 'move completions to the definition: { complete: { argument: () => [...] } }')
    moveDefinition(program, call, 'prompt', {
      members,
      first: 'name',
      handler: 'load',
      names: {},
      ...(input !== undefined && { extra: `input: ${input}` }),
    })
  },
  start: moveStart,
}

/** The members of the object that a method takes. */
function definitionOf(program: Program, call: Node): Map<string, Node> | undefined {
  const members = program.members(call.arguments?.[0])
  if (!members)
    program.todo(call, 'the definition is not a plain object literal; Portico takes name, definition and handler one after the other')
  return members
}

interface Definition {
  members: Map<string, Node>
  first: string
  handler: string
  names: Readonly<Record<string, string>>
  extra?: string
}

/** One object becomes three arguments: the name, the definition, and the handler. @returns the handler */
function moveDefinition(
  program: Program,
  call: Node,
  method: string,
  { members, first, handler, names, extra }: Definition,
): Node | undefined {
  const name = program.valueOf(members.get(first))
  const member = members.get(handler)
  const run = program.is(member, 'MethodDeclaration') ? member : program.valueOf(member)
  if (!name || !member || !run) {
    program.todo(call, `the definition has no ${first} or no ${handler}`)
    return undefined
  }
  const kept = [...members].filter(([key]) => key !== first && key !== handler)
  const definition = kept.flatMap(([key, each]): Part[][] => {
    const renamed = names[key]
    const value = program.valueOf(each)
    return [renamed !== undefined && value ? [`${renamed}: `, rangeOf(value)] : [rangeOf(each)]]
  })
  if (extra !== undefined) definition.push([extra])
  const isLong = program.text.slice(call.getStart(), call.end).includes('\n')
  const indent = /[ \t]*$/.exec(program.text.slice(0, members.values().next().value?.getStart()))?.[0] ?? ''
  const [open, between, close] = isLong ? [`{\n${indent}`, `,\n${indent}`, ',\n}'] : ['{ ', ', ', ' }']
  const body: Part[] =
    definition.length === 0 ? ['{}'] : [open, ...definition.flatMap((parts, i) => (i === 0 ? parts : [between, ...parts])), close]
  program.replace(call.expression?.name as Node, method)
  program.replace(call.arguments?.[0] as Node, rangeOf(name), ', ', ...body, ', ', ...handlerParts(program, run))
  return program.isFunction(run) ? run : undefined
}

/** A method of an object becomes a function. */
function handlerParts(program: Program, run: Node): Part[] {
  if (!program.is(run, 'MethodDeclaration') || !run.name) return [rangeOf(run)]
  const isAsync = run.modifiers?.some((each) => program.is(each, 'AsyncKeyword')) ?? false
  return [isAsync ? 'async function ' : 'function ', { start: run.name.end, end: run.end }]
}

/** `{ log, reportProgress }` become members of the context. */
function moveContext(program: Program, parameter: Node, handler: Node): void {
  const pattern = parameter.name
  const name = pattern?.text
  if (name !== undefined) {
    for (const use of usesOf(program, name, handler)) moveMember(program, use.parent, use.parent.name?.text, name)
    return
  }
  const context = program.uses('ctx').length === 0 ? 'ctx' : 'context'
  program.replace(pattern as Node, context)
  for (const each of pattern?.elements ?? []) {
    const local = each.name?.text ?? ''
    const member = (each.propertyName ?? each.name)?.text
    for (const use of usesOf(program, local, handler)) moveMember(program, use, member, context)
  }
}

/** @param use the expression that stands for the member */
function moveMember(program: Program, use: Node, member: string | undefined, context: string): void {
  if (member === 'log') {
    const access = use.parent
    const call = program.is(access, 'PropertyAccessExpression') ? callOf(program, access) : undefined
    const [message, data] = call?.arguments ?? []
    replaceUse(program, use, `${context}.log`)
    if (access.name?.text === 'warn') program.replace(access.name, 'warning')
    if (message && data)
      program.edits.replace(
        { start: message.getStart(), end: data.end },
        '{ message: ',
        rangeOf(message),
        ', context: ',
        rangeOf(data),
        ' }',
      )
    return
  }
  const call = callOf(program, use)
  const given = program.members(call?.arguments?.[0])
  const progress = program.valueOf(given?.get('progress'))
  if (member === 'reportProgress' && call && progress) {
    const total = program.valueOf(given?.get('total'))
    program.replace(call, `${context}.progress(`, rangeOf(progress), ...(total ? [', ', rangeOf(total)] : []), ')')
    return
  }
  program.todo(use, `the context of Portico has no ${member ?? 'such member'}; see docs/server.md`)
}

/** `{ text }` that a resource loads becomes the text. */
function moveLoaded(program: Program, load: Node): void {
  const returned = program.is(load.body, 'Block')
    ? [...program.below(load.body)].filter((node) => program.is(node, 'ReturnStatement')).map((node) => node.expression)
    : [load.body]
  for (const each of returned) {
    const value = program.is(each, 'ParenthesizedExpression') ? each.expression : each
    const members = program.members(value)
    const text = program.valueOf(members?.get('text'))
    if (each && text && members?.size === 1) program.replace(each, rangeOf(text))
    else program.todo(each ?? load, 'return the text itself, or bytes for a blob')
  }
}

/** The arguments of a prompt as a schema. Undefined if they are not plain literals. */
function promptInput(program: Program, list: Node | undefined): string | undefined {
  const { zod } = program
  if (!program.is(list, 'ArrayLiteralExpression') || zod === undefined) return undefined
  const members: string[] = []
  for (const each of list.elements ?? []) {
    const about = program.members(each)
    const name = program.valueOf(about?.get('name'))
    const description = program.valueOf(about?.get('description'))
    const values = program.valueOf(about?.get('enum'))
    if (!program.isText(name)) return undefined
    const key = /^[A-Za-z_$][\w$]*$/.test(name.text) ? name.text : program.quoted(name.text)
    const base = values ? `${zod}.enum(${values.getText()})` : `${zod}.string()`
    const isRequired = program.is(program.valueOf(about?.get('required')), 'TrueKeyword')
    members.push(`${key}: ${base}${isRequired ? '' : '.optional()'}${description ? `.describe(${description.getText()})` : ''}`)
  }
  return `${zod}.object({ ${members.join(', ')} })`
}

function moveStart(program: Program, call: Node): void {
  const [options] = call.arguments ?? []
  const server = call.expression?.expression?.getText() ?? 'server'
  const members = program.members(options)
  const kind = program.valueOf(members?.get('transportType'))
  const http = program.members(program.valueOf(members?.get('httpStream')))
  const outer = program.is(call.parent, 'AwaitExpression') ? call.parent : call
  if (program.isText(kind) && kind.text === 'stdio') {
    return program.replace(outer, `${program.add('portico/stdio', 'serveStdio')}(${server})`)
  }
  if (!program.isText(kind) || kind.text !== 'httpStream')
    return program.todo(call, 'serve with serveStdio(server) of portico/stdio, or listen(server, { port }) of portico/http')
  const names: Readonly<Record<string, string>> = { port: 'port', host: 'host', endpoint: 'path' }
  const others = [...(http?.keys() ?? [])].filter((name) => names[name] === undefined)
  if (others.length > 0) program.todo(call, `listen has other options for ${others.join(', ')}; see docs/http.md`)
  const parts = Object.entries(names).flatMap(([old, name]): Part[][] => {
    const value = program.valueOf(http?.get(old))
    return value ? [[`${name}: `, rangeOf(value)]] : []
  })
  program.replace(
    call,
    `${program.add('portico/http', 'listen')}(${server}, { `,
    ...parts.flatMap((each, i) => (i === 0 ? each : [', ', ...each])),
    ' })',
  )
}
