/** Finds the places in a source file where a small fault is possible, and describes each fault. */

import { parseSync } from 'rolldown/utils'

/** Code about endings and limits. Faults in it show late, in a process that has run for a while. */
const ENDS_AND_BOUNDS =
  /clos|\bend|End|drain|abort|cancel|idle|expir|timeout|timer|Timer|late|stall|give|gone|Gone|dispos|releas|delet|clear|clean|destroy|kill|exit|limit|max|Max|bound|budget|retire|abandon|finish|stop|leave|pause|resume|wait/

const BOUNDARY = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const OPPOSITE = { '+=': '-=', '-=': '+=' }

/**
 * A fault is `{ file, line, start, end, kind, was, becomes, code }`. `code(isOn)` is the text that replaces `start` to `end`; `isOn` is an
 * expression that is true if the fault is switched on.
 */
export function findFaults(file, source, { everywhere = false } = {}) {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0].message}`)
  const faults = []
  walk(program, [], (node, parents) => {
    for (const fault of faultsAt(node, parents, source)) {
      const { node: at = node, ...rest } = fault
      if (!everywhere && !ENDS_AND_BOUNDS.test(surroundings(at, parents, source))) continue
      const line = source.slice(0, at.start).split('\n').length
      // A statement that begins with a parenthesis would become an argument list of the line above.
      const isStatement = at === node && parents.at(-1)?.type === 'ExpressionStatement'
      const code = isStatement ? (isOn) => `void 0, ${rest.code(isOn)}` : rest.code
      faults.push({ file, line, start: at.start, end: at.end, was: oneLine(source.slice(at.start, at.end)), ...rest, code })
    }
  })
  return faults
}

function* faultsAt(node, parents, source) {
  const text = ({ start, end }) => source.slice(start, end)
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = text(node.test)
      for (const value of ['true', 'false']) {
        yield { node: node.test, kind: `condition ${value}`, becomes: value, code: (isOn) => `(${isOn} ? ${value} : (${test}))` }
      }
      break
    }
    case 'BinaryExpression': {
      const operator = BOUNDARY[node.operator]
      if (operator === undefined) break
      const becomes = `${text(node.left)} ${operator} ${text(node.right)}`
      yield { kind: 'boundary', becomes, code: (isOn) => `(${isOn} ? (${becomes}) : (${text(node)}))` }
      break
    }
    case 'LogicalExpression':
      if (node.operator === '??') break
      for (const side of [node.left, node.right]) {
        yield { kind: 'one side only', becomes: text(side), code: (isOn) => `(${isOn} ? (${text(side)}) : (${text(node)}))` }
      }
      break
    case 'AwaitExpression':
      if (parents.at(-1)?.type !== 'ExpressionStatement') break
      yield { kind: 'not awaited', becomes: text(node.argument), code: (isOn) => `(${isOn} ? (${text(node.argument)}) : (${text(node)}))` }
      break
    case 'ReturnStatement':
      if (typeof node.argument?.value !== 'boolean') break
      yield {
        node: node.argument,
        kind: 'other answer',
        becomes: String(!node.argument.value),
        code: (isOn) => `(${isOn} ? ${!node.argument.value} : ${node.argument.value})`,
      }
      break
    case 'ExpressionStatement': {
      const { expression } = node
      const inner = expression.type === 'AwaitExpression' ? expression.argument : expression
      const isEffect = ['CallExpression', 'ChainExpression', 'AssignmentExpression', 'UpdateExpression', 'UnaryExpression'].includes(
        inner.type,
      )
      if (!isEffect || inner.callee?.type === 'Super' || parents.at(-1)?.type === 'ArrowFunctionExpression') break
      yield { kind: 'left out', becomes: '', code: (isOn) => `{ if (!(${isOn})) ${text(node)} }` }
      const opposite = OPPOSITE[inner.operator]
      if (inner.type === 'AssignmentExpression' && opposite !== undefined) {
        const becomes = `${text(inner.left)} ${opposite} ${text(inner.right)}`
        yield { kind: 'other direction', becomes, code: (isOn) => `{ if (${isOn}) ${becomes}; else ${text(node)} }` }
      }
      break
    }
  }
}

/** The statement that contains a node, and the name of the function or member around it. */
function surroundings(node, parents, source) {
  const around = [...parents].reverse()
  const statement = around.find(({ type }) => type.endsWith('Statement') && type !== 'BlockStatement') ?? node
  const named = around.find(({ type }) => type === 'MethodDefinition' || type === 'FunctionDeclaration' || type === 'PropertyDefinition')
  const name = named?.key?.name ?? named?.id?.name ?? ''
  const head =
    statement.type === 'IfStatement'
      ? source.slice(statement.start, statement.end).slice(0, 200)
      : source.slice(statement.start, statement.end)
  return `${name} ${head}`
}

function walk(node, parents, visit) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const item of node) walk(item, parents, visit)
    return
  }
  // Types do not exist at run time.
  if (typeof node.type !== 'string' || /^TS(?!As|NonNull|Satisfies|Parameter)/.test(node.type)) return
  visit(node, parents)
  const within = [...parents, node]
  for (const [key, value] of Object.entries(node)) if (key !== 'type' && typeof value === 'object') walk(value, within, visit)
}

function oneLine(text) {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 100 ? `${line.slice(0, 97)}...` : line
}
