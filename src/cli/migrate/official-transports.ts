/** The transports and types of the official SDK, and what has no counterpart. */

import { callOf } from './handlers.ts'
import type { OfficialSdk } from './official-server.ts'
import type { Program } from './program.ts'
import type { Node } from './syntax.ts'

const HTTP =
  'serve HTTP with listen(server, { port }), or with httpHandler(server) inside a framework: it keeps sessions itself. See docs/http.md'

/** Why an import stays, by name. */
export const REASONS: Readonly<Record<string, string>> = {
  StreamableHTTPServerTransport: HTTP,
  NodeStreamableHTTPServerTransport: HTTP,
  WebStandardStreamableHTTPServerTransport: HTTP,
  SSEServerTransport: HTTP,
  createMcpHandler: HTTP,
  createMcpExpressApp: HTTP,
  toNodeHandler: HTTP,
  isInitializeRequest: HTTP,
  InMemoryTransport: 'in tests, pair(server) of portico/testing connects a client in memory',
  completable: 'move completions to the definition: { complete: { argument: (typed) => [...] } }',
  Server: 'the low-level Server has no counterpart; define tools with createServer().tool(...)',
  ResourceTemplate: 'a template is the first argument of server.resource: its URI with {variables}',
  McpError: 'McpError of portico/server takes a name such as ERR_INVALID_PARAMS; see docs/errors.md',
  ProtocolError: 'McpError of portico/server takes a name such as ERR_INVALID_PARAMS; see docs/errors.md',
}

/** Types with the same name and meaning in portico/server. */
const TYPES = ['CallToolResult', 'GetPromptResult', 'ReadResourceResult', 'ContentBlock', 'Tool', 'ToolAnnotations', 'PromptMessage']

export function moveTypes(program: Program, sdk: OfficialSdk): void {
  for (const [local, { module, name }] of program.imports) {
    if (!sdk.modules.test(module) || !TYPES.includes(name)) continue
    for (const use of program.uses(local)) program.consume(use)
    program.add('portico/server', local === name ? `type ${name}` : `type ${name} as ${local}`)
  }
}

/** `server.connect(new StdioServerTransport())` becomes `serveStdio(server)`. */
export function moveTransports(program: Program, sdk: OfficialSdk, servers: ReadonlySet<string>): void {
  const isStdio = (node: Node | undefined): boolean =>
    program.is(node, 'NewExpression') && program.isImported(node.expression, 'StdioServerTransport', sdk.modules)
  for (const call of program.below(program.root)) {
    const callee = program.is(call, 'CallExpression') ? call.expression : undefined
    if (!program.is(callee, 'PropertyAccessExpression') || callee.name?.text !== 'connect' || !servers.has(callee.expression?.text ?? ''))
      continue
    const [transport] = call.arguments ?? []
    const made = program.is(transport, 'Identifier') ? program.declared(transport.text) : transport
    if (!made || !isStdio(made)) {
      program.todo(call, HTTP)
      continue
    }
    const uses = program.is(transport, 'Identifier')
      ? program.uses(transport.text ?? '').filter((use) => use !== transport && use.parent !== made.parent)
      : []
    const [other] = uses
    if (other) {
      program.todo(other, 'Portico has no transport objects; serveStdio(server) returns what can be closed')
      continue
    }
    if (made !== transport) program.removeStatement(program.statementOf(made))
    program.consume(made.expression)
    const serve = program.add('portico/stdio', 'serveStdio')
    const outer = program.is(call.parent, 'AwaitExpression') ? call.parent : call
    program.replace(outer, `${serve}(${callee.expression?.getText()})`)
  }
}

/** Whether an expression is a server: a name that holds one, or a member `server` of anything. */
const isServer = (program: Program, node: Node | undefined, servers: ReadonlySet<string>): boolean =>
  (program.is(node, 'Identifier') && (servers.has(node.text ?? '') || node.text === 'server')) ||
  (program.is(node, 'PropertyAccessExpression') && node.name?.text === 'server')

/** The call of Portico for a question that the server of the SDK asks. Undefined if the member is another one. */
function questionOf(program: Program, access: Node, member: string): string | undefined {
  const call = callOf(program, access)
  if (!call) return undefined
  const declared = program.is(call.parent, 'AwaitExpression') ? call.parent.parent : call.parent
  const name = program.quoted((program.is(declared, 'VariableDeclaration') ? declared.name?.text : undefined) ?? 'answer')
  const [params] = call.arguments ?? []
  const given = program.members(params)
  const textOf = (member: string): string => shortText(program.valueOf(given?.get(member))) ?? member
  const where = 'where ctx is the second parameter of the handler'
  switch (member) {
    case 'elicitInput':
      return given?.has('url')
        ? `write await ctx.elicitUrl(${name}, ${textOf('message')}, ${textOf('url')}), ${where}`
        : `write await ctx.elicit(${name}, ${textOf('message')}, ${textOf('requestedSchema')}), ${where}: it returns the content, and throws Declined or Cancelled`
    case 'createMessage':
      return `write await ctx.sample(${name}, ${shortText(params) ?? 'params'}), ${where}`
    case 'listRoots':
      return `write await ctx.roots(), ${where}: it returns the list`
    default:
      return undefined
  }
}

/** The text of an expression, if it fits into a comment. */
function shortText(node: Node | undefined): string | undefined {
  const text = node?.getText()
  return text !== undefined && text.length <= 80 && !text.includes('\n') ? text : undefined
}

const KNOWN = ['registerTool', 'registerPrompt', 'registerResource', 'tool', 'prompt', 'resource', 'connect', 'close']

/** Members of the server that Portico does not have. */
export function todoOtherMembers(program: Program, servers: ReadonlySet<string>): void {
  const asked = new Set<Node | undefined>()
  for (const node of program.below(program.root)) {
    if (!program.is(node, 'PropertyAccessExpression')) continue
    const member = node.name?.text ?? ''
    const question = isServer(program, node.expression, servers) ? questionOf(program, node, member) : undefined
    if (question !== undefined) {
      program.todo(node, question)
      // The server of `server.server.elicitInput` is said with it.
      asked.add(node.expression)
      continue
    }
    if (asked.has(node) || !program.is(node.expression, 'Identifier')) continue
    if (!servers.has(node.expression.text ?? '') || KNOWN.includes(member)) continue
    if (/^send\w+ListChanged$/.test(member)) program.todo(node, 'Portico notifies clients of changes itself; remove this')
    else if (member === 'sendLoggingMessage') program.todo(node, 'use server.log.info(data), or log of the context in a handler')
    else if (member === 'server') program.todo(node, innerReason(program, node))
    else program.todo(node, `a server of Portico has no ${member}; see docs/server.md`)
  }
}

/** What to do about `server.server.NAME(...)`, the low-level server inside `McpServer`, where it asks no question. */
function innerReason(program: Program, node: Node): string {
  const outer = program.is(node.parent, 'PropertyAccessExpression') && node.parent.expression === node ? node.parent.name?.text : undefined
  return INNER_REASONS[outer ?? ''] ?? 'Portico has no low-level server inside the server; see docs/server.md and docs/extensions.md'
}

const INNER_REASONS: Readonly<Record<string, string>> = {
  sendLoggingMessage: 'use server.log.info(data), or log of the context in a handler',
  sendResourceUpdated: 'use server.resourceChanged(uri)',
  setRequestHandler: 'Portico handles the requests of the protocol; your own methods are extensions, see docs/extensions.md',
  getClientCapabilities: 'the capabilities of the client are in ctx.caller.capabilities',
  getClientVersion: 'the name and version of the client are in ctx.caller.client',
}
