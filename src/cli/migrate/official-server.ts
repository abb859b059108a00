/** What versions 1 and 2 of the official SDK have in common: `McpServer` and what is registered at it. */

import type { Part } from './edits.ts'
import { functionOf, insertArguments, showErrors, usesOf } from './handlers.ts'
import { type Program, rangeOf } from './program.ts'
import type { Node } from './syntax.ts'

export interface OfficialSdk {
  /** The modules of the SDK. */
  modules: RegExp
  /** Moves what a handler does with its context. */
  moveContext(program: Program, parameter: Node, handler: Node): void
}

/** Names of variables and parameters that hold a server. */
export function serverNames(program: Program, sdk: OfficialSdk): Set<string> {
  const names = new Set<string>()
  const isServer = (node: Node | undefined): boolean =>
    program.is(node, 'NewExpression') && program.isImported(node.expression, 'McpServer', sdk.modules)
  const makers = new Set<string>()
  for (const node of program.below(program.root)) {
    if (program.is(node, 'VariableDeclaration') && isServer(node.initializer)) names.add(node.name?.text ?? '')
    if (program.is(node, 'Parameter', 'VariableDeclaration') && program.isImported(node.type?.typeName, 'McpServer', sdk.modules))
      names.add(node.name?.text ?? '')
    if (isServer(node)) for (const name of makerNames(program, node)) makers.add(name)
  }
  for (const node of program.below(program.root)) {
    const made =
      program.is(node, 'VariableDeclaration') && program.is(node.initializer, 'CallExpression') ? node.initializer.expression : undefined
    if (made?.text !== undefined && makers.has(made.text)) names.add(node.name?.text ?? '')
  }
  return names
}

/** The functions around a node, by name: `function getServer() { ... }` and `const getServer = () => ...`. */
function* makerNames(program: Program, node: Node): Generator<string> {
  for (let each = node.parent; each.parent; each = each.parent) {
    if (program.is(each, 'FunctionDeclaration') && each.name?.text !== undefined) yield each.name.text
    if (
      program.is(each, 'ArrowFunction', 'FunctionExpression') &&
      program.is(each.parent, 'VariableDeclaration') &&
      each.parent.name?.text !== undefined
    )
      yield each.parent.name.text
  }
}

export function moveServers(program: Program, sdk: OfficialSdk): void {
  for (const node of program.below(program.root)) {
    if (program.is(node, 'NewExpression') && program.isImported(node.expression, 'McpServer', sdk.modules)) moveConstructor(program, node)
    if (program.is(node, 'TypeReference') && program.isImported(node.typeName, 'McpServer', sdk.modules)) {
      program.replace(node, program.add('portico/server', 'type Server'))
      program.consume(node.typeName)
    }
  }
}

function moveConstructor(program: Program, node: Node): void {
  const [info, options] = node.arguments ?? []
  if (!info) return
  const members = options ? program.members(options) : new Map<string, Node>()
  const instructions = members?.get('instructions')
  const infoEnd = program.is(info, 'ObjectLiteralExpression') ? info.properties?.at(-1)?.end : undefined
  program.consume(node.expression)
  const create = program.add('portico/server', 'createServer')
  const others = [...(members?.keys() ?? ['options'])].filter((name) => name !== 'instructions' && name !== 'capabilities')
  if (others.length > 0) program.todo(node, `createServer has other options; look for ${others.join(', ')} in docs/options.md`)
  if (instructions && infoEnd !== undefined)
    program.replace(
      node,
      `${create}(`,
      { start: info.getStart(), end: infoEnd },
      ', ',
      rangeOf(instructions),
      { start: infoEnd, end: info.end },
      ')',
    )
  else program.replace(node, `${create}(`, rangeOf(info), ')')
}

/** A schema as Portico takes it: a raw shape of zod is wrapped into an object schema. */
export function schemaParts(program: Program, schema: Node): Part[] {
  const plain = [rangeOf(schema)]
  const named = program.is(schema, 'Identifier') ? program.declared(schema.text) : undefined
  const value = named ?? schema
  if (program.is(value, 'Identifier') && program.imports.has(value.text ?? '')) {
    program.todo(schema, `if ${value.text} is a raw shape, wrap it: z.object(${value.text})`)
    return plain
  }
  const members = program.members(value)
  if (!program.is(value, 'ObjectLiteralExpression') || program.isText(program.valueOf(members?.get('type')))) return plain // JSON Schema stays
  const { zod } = program
  if (zod !== undefined) return [`${zod}.object(`, rangeOf(schema), ')']
  program.todo(schema, 'wrap the raw shape with z.object of zod 4')
  return plain
}

/** `inputSchema: { ... }` becomes `input: z.object({ ... })`. */
function moveSchemaMember(program: Program, member: Node | undefined, name: string): void {
  const value = program.valueOf(member)
  if (member && value) program.replace(member, `${name}: `, ...schemaParts(program, value))
}

function moveHandler(program: Program, sdk: OfficialSdk, given: Node | undefined, hasInput: boolean): void {
  const handler = functionOf(program, given)
  if (!handler) return
  const context = handler.parameters?.[hasInput ? 1 : 0]
  if (context) sdk.moveContext(program, context, handler)
  if (!hasInput) insertArguments(program, handler)
}

export function moveRegisterTool(program: Program, sdk: OfficialSdk, call: Node): void {
  const [, config, given] = call.arguments ?? []
  const members = program.members(config)
  if (!members) {
    program.todo(call, 'the definition is not an object literal; rename inputSchema to input and outputSchema to output in it')
    return
  }
  program.replace(call.expression?.name as Node, 'tool')
  for (const [old, name] of [
    ['inputSchema', 'input'],
    ['outputSchema', 'output'],
  ] as const) {
    moveSchemaMember(program, members.get(old), name)
  }
  moveHandler(program, sdk, given, members.has('inputSchema'))
  const handler = functionOf(program, given)
  if (handler) showErrors(program, handler)
}

export function moveRegisterPrompt(program: Program, sdk: OfficialSdk, call: Node): void {
  const [, config, given] = call.arguments ?? []
  const members = program.members(config)
  if (!members) {
    program.todo(call, 'the definition is not an object literal; rename argsSchema to input in it')
    return
  }
  program.replace(call.expression?.name as Node, 'prompt')
  const input = members.get('argsSchema')
  moveSchemaMember(program, input, 'input')
  moveHandler(program, sdk, given, input !== undefined)
}

/** `registerResource(name, uri or template, metadata, handler)`; the metadata may be missing in the older form. */
export function moveResource(program: Program, sdk: OfficialSdk, call: Node): void {
  const given = call.arguments ?? []
  const [name, place] = given
  const handler = given.at(-1)
  const config = given.length === 4 ? given[2] : undefined
  const template =
    program.is(place, 'NewExpression') && program.isImported(place.expression, 'ResourceTemplate', sdk.modules) ? place : undefined
  const uri = template ? template.arguments?.[0] : place
  if (!name || !uri || !handler || given.length < 3) return
  if (template) {
    program.consume(template.expression)
    const options = program.members(template.arguments?.[1])
    const list = program.valueOf(options?.get('list'))
    if (!options || options.has('complete') || (list && list.text !== 'undefined'))
      program.todo(call, 'move list to resources of their own, and complete to the definition: { complete: { variable: () => [...] } }')
  }
  const own =
    program.is(config, 'ObjectLiteralExpression') && (config.properties?.length ?? 0) > 0
      ? [', ', { start: config.properties?.[0]?.getStart() ?? 0, end: config.properties?.at(-1)?.end ?? 0 }]
      : config && !program.is(config, 'ObjectLiteralExpression')
        ? [', ...', rangeOf(config)]
        : []
  program.replace(call.expression?.name as Node, 'resource')
  program.edits.replace(
    { start: name.getStart(), end: (config ?? (place as Node)).end },
    rangeOf(uri),
    ', { name: ',
    rangeOf(name),
    ...own,
    ' }',
  )
  const read = functionOf(program, handler)
  if (read)
    moveReader(program, sdk, read, uri, { isTemplate: template !== undefined, hasType: program.members(config)?.has('mimeType') ?? false })
}

/** A reader gets the URI first in the SDK. Portico gives the variables of a template first. */
function moveReader(
  program: Program,
  sdk: OfficialSdk,
  read: Node,
  uri: Node,
  { isTemplate, hasType }: { isTemplate: boolean; hasType: boolean },
): void {
  const [address, ...rest] = read.parameters ?? []
  const context = isTemplate ? rest[1] : rest[0]
  if (context) sdk.moveContext(program, context, read)
  if (!address) return
  const uses = address.name?.text === undefined ? [] : usesOf(program, address.name.text, read)
  const next = rest[0]
  if (isTemplate && next) program.edits.replace({ start: address.getStart(), end: next.getStart() }, '')
  else if (next) program.replace(address, '_variables')
  else program.edits.replace(rangeOf(address), program.text[address.getStart() - 1] === '(' ? '' : '()')
  for (const use of uses) {
    const access = use.parent
    const isHref = program.is(access, 'PropertyAccessExpression') && access.name?.text === 'href'
    if (!isHref) program.todo(use, 'Portico gives the reader no URI; write the URI, or build it from the variables')
    else if (!isTemplate) program.replace(access, rangeOf(uri))
    else if (!replaceByText(program, access, hasType))
      program.todo(use, 'Portico gives the reader no URI; return the text alone, or build the URI from the variables')
  }
}

/** `{ contents: [{ uri: uri.href, text }] }` becomes the text: Portico adds the URI and the type. */
function replaceByText(program: Program, access: Node, hasType: boolean): boolean {
  const content = access.parent?.parent
  const list = content?.parent
  const whole = list?.parent?.parent
  const members = program.members(content)
  const text = program.valueOf(members?.get('text'))
  if (!members || !text || !program.is(list, 'ArrayLiteralExpression') || list.elements?.length !== 1) return false
  if (!program.is(whole, 'ObjectLiteralExpression') || whole.properties?.length !== 1) return false
  if ([...members.keys()].some((name) => !['uri', 'text', ...(hasType ? ['mimeType'] : [])].includes(name))) return false
  const outer = program.is(whole.parent, 'ParenthesizedExpression') ? whole.parent : whole
  program.replace(outer, rangeOf(text))
  return true
}
