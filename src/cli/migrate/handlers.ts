/** Changes inside handlers: their parameters, errors and context. */

import { type Program, rangeOf } from './program.ts'
import type { Node } from './syntax.ts'

/** The function behind an argument: itself, or the one declared under its name. */
export function functionOf(program: Program, node: Node | undefined): Node | undefined {
  if (program.isFunction(node)) return node
  if (!program.is(node, 'Identifier')) return undefined
  const named = [...program.below(program.root)].find((each) => program.is(each, 'FunctionDeclaration') && each.name?.text === node.text)
  const found = named ?? program.declared(node.text)
  return program.isFunction(found) ? found : undefined
}

/** A handler without arguments gets the context as its only parameter in other libraries, and as the second one here. */
export function insertArguments(program: Program, handler: Node): void {
  const [first] = handler.parameters ?? []
  if (!first) return
  const isBare =
    program.is(handler, 'ArrowFunction') &&
    program.text[first.getStart() - 1] !== '(' &&
    !/\(\s*$/.test(program.text.slice(handler.getStart(), first.getStart()))
  program.changes += 1
  program.edits.insert(first.getStart(), isBare ? '(_args, ' : '_args, ')
  if (isBare) program.edits.insert(first.end, ')')
}

/** Portico masks errors of handlers. The other library showed their messages to the model, and `ToolError` does. */
export function showErrors(program: Program, handler: Node, name = 'Error'): void {
  for (const node of program.below(handler.body ?? handler)) {
    const thrown = program.is(node, 'ThrowStatement') ? node.expression : undefined
    if (!program.is(thrown, 'NewExpression') || !program.is(thrown.expression, 'Identifier') || thrown.expression.text !== name) continue
    program.replace(thrown.expression, 'ToolError')
    program.consume(thrown.expression)
    program.add('portico/server', 'ToolError')
  }
}

/** The uses of a parameter within a function. */
export const usesOf = (program: Program, name: string, within: Node): Node[] =>
  program.uses(name).filter((use) => use.getStart() >= (within.body ?? within).getStart() && use.end <= (within.body ?? within).end)

/** Replaces the use of a name by an expression. `{ signal }` becomes `{ signal: ctx.signal }`. */
export const replaceUse = (program: Program, use: Node, text: string): void =>
  program.replace(use, program.is(use.parent, 'ShorthandPropertyAssignment') ? `${use.getText()}: ${text}` : text)

/** The call of which this member access is the callee. */
export const callOf = (program: Program, access: Node): Node | undefined =>
  program.is(access.parent, 'CallExpression') && access.parent.expression === access ? access.parent : undefined

/** A notification that a handler sends: progress and log messages have functions of their own. @returns false if it is another one */
export function replaceNotification(program: Program, call: Node, context: string): boolean {
  const message = program.members(call.arguments?.[0])
  const method = program.valueOf(message?.get('method'))
  const params = program.members(program.valueOf(message?.get('params')))
  if (!program.isText(method) || !params || call.arguments?.length !== 1) return false
  const value = (name: string): Node | undefined => program.valueOf(params.get(name))
  if (method.text === 'notifications/progress') {
    const progress = value('progress')
    if (!progress) return false
    const total = value('total')
    const text = value('message')
    const parts = [
      rangeOf(progress),
      ...(total || text ? [', ', total ? rangeOf(total) : 'undefined'] : []),
      ...(text ? [', ', rangeOf(text)] : []),
    ]
    program.replace(call, `${context}.progress(`, ...parts, ')')
    return true
  }
  const level = value('level')
  const data = value('data')
  if (method.text !== 'notifications/message' || !program.isText(level) || !data) return false
  program.replace(call, `${context}.log.${level.text}(`, rangeOf(data), ')')
  return true
}
