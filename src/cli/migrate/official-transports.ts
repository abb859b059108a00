/** The transports and types of the official SDK, and what has no counterpart. */

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

const KNOWN = ['registerTool', 'registerPrompt', 'registerResource', 'tool', 'prompt', 'resource', 'connect', 'close']

/** Members of the server that Portico does not have. */
export function todoOtherMembers(program: Program, servers: ReadonlySet<string>): void {
  for (const node of program.below(program.root)) {
    if (!program.is(node, 'PropertyAccessExpression') || !program.is(node.expression, 'Identifier')) continue
    const member = node.name?.text ?? ''
    if (!servers.has(node.expression.text ?? '') || KNOWN.includes(member)) continue
    if (/^send\w+ListChanged$/.test(member)) program.todo(node, 'Portico notifies clients of changes itself; remove this')
    else if (member === 'sendLoggingMessage') program.todo(node, 'use server.log.info(data), or log of the context in a handler')
    else if (member === 'server') program.todo(node, innerReason(program, node))
    else program.todo(node, `a server of Portico has no ${member}; see docs/server.md`)
  }
}

/** What to do about `server.server.NAME(...)`: the low-level server inside `McpServer`. */
function innerReason(program: Program, node: Node): string {
  const outer = program.is(node.parent, 'PropertyAccessExpression') && node.parent.expression === node ? node.parent.name?.text : undefined
  return INNER_REASONS[outer ?? ''] ?? 'Portico has no low-level server inside the server; see docs/server.md and docs/extensions.md'
}

const INNER_REASONS: Readonly<Record<string, string>> = {
  elicitInput: 'ask in a handler with await ctx.elicit(name, message, schema): it returns the content, and throws Declined after a no',
  createMessage: 'ask the model in a handler with await ctx.sample(name, params)',
  listRoots: 'ask for the folders in a handler with await ctx.roots()',
  sendLoggingMessage: 'use server.log.info(data), or log of the context in a handler',
  sendResourceUpdated: 'use server.resourceChanged(uri)',
  setRequestHandler: 'Portico handles the requests of the protocol; your own methods are extensions, see docs/extensions.md',
  getClientCapabilities: 'the capabilities of the client are in ctx.caller.capabilities',
  getClientVersion: 'the name and version of the client are in ctx.caller.client',
}
