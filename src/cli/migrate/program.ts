/** One source file: its tree, where its names come from, what changes, and what is left to the person. */

import { Edits, type Part } from './edits.ts'
import type { Checked, Node, TypeScript } from './syntax.ts'

/** A name that the file imports. */
export interface Imported {
  module: string
  /** The name in the module; `*` for the whole module. */
  name: string
  isType: boolean
}

/** Something that the codemod cannot move. */
export interface Leftover {
  line: number
  reason: string
}

/** The modules that go. */
const OLD = /^(?:@modelcontextprotocol\/|fastmcp$)/

/** How many characters before a statement are searched for comments of this command. */
const MAX_COMMENTS = 2000

export class Program {
  readonly text: string
  readonly root: Node
  readonly edits: Edits
  readonly #ts: TypeScript
  readonly imports = new Map<string, Imported>()
  /** Identifiers whose imports are no longer needed. */
  readonly #consumed = new Set<Node>()
  /** Names to import from Portico, by module. */
  readonly #added = new Map<string, Set<string>>()
  readonly #leftovers = new Map<string, Leftover>()
  #identifiers: Node[] | undefined
  changes = 0

  constructor(ts: TypeScript, file: string, text: string) {
    this.#ts = ts
    this.text = text
    this.root = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    this.edits = new Edits(text)
    for (const statement of this.#importStatements()) this.#readImport(statement)
  }

  is(node: Node | undefined, ...kinds: string[]): node is Checked {
    return node !== undefined && kinds.some((kind) => this.#ts.SyntaxKind[kind] === node.kind)
  }

  children(node: Node): Node[] {
    const found: Node[] = []
    this.#ts.forEachChild(node, (child) => void found.push(child))
    return found
  }

  /** All nodes below, outermost first. */
  *below(node: Node): Generator<Node> {
    for (const child of this.children(node)) {
      yield child
      yield* this.below(child)
    }
  }

  #importStatements(): Node[] {
    return (this.root.statements ?? []).filter((each) => this.is(each, 'ImportDeclaration'))
  }

  #readImport(statement: Node): void {
    const module = statement.moduleSpecifier?.text ?? ''
    const bindings = statement.importClause?.namedBindings
    const isType = statement.importClause?.isTypeOnly === true
    if (statement.importClause?.name) this.imports.set(statement.importClause.name.text ?? '', { module, name: 'default', isType })
    if (this.is(bindings, 'NamespaceImport')) this.imports.set(bindings.name?.text ?? '', { module, name: '*', isType })
    for (const each of bindings?.elements ?? [])
      this.imports.set(each.name?.text ?? '', {
        module,
        name: (each.propertyName ?? each.name)?.text ?? '',
        isType: isType || each.isTypeOnly === true,
      })
  }

  /** Whether an expression is this name of one of these modules. */
  isImported(node: Node | undefined, name: string, modules: RegExp): boolean {
    if (!this.is(node, 'Identifier')) return false
    const found = this.imports.get(node.text ?? '')
    return found !== undefined && found.name === name && modules.test(found.module)
  }

  /** The uses of a name, without its import. Members of objects with the same name do not count. */
  uses(name: string): Node[] {
    this.#identifiers ??= [...this.below(this.root)].filter((node) => this.is(node, 'Identifier'))
    return this.#identifiers.filter(
      (node) => node.text === name && !this.is(node.parent, 'ImportSpecifier', 'ImportClause', 'NamespaceImport') && !this.#isMember(node),
    )
  }

  #isMember(node: Node): boolean {
    const { parent } = node
    if (this.is(parent, 'PropertyAccessExpression', 'PropertyAssignment', 'MethodDeclaration')) return parent.name === node
    return this.is(parent, 'BindingElement') && parent.propertyName === node
  }

  /** The name is not used here any more. */
  consume(node: Node | undefined): void {
    if (node) this.#consumed.add(node)
  }

  isConsumed(node: Node): boolean {
    return this.#consumed.has(node)
  }

  /** Imports a name from Portico. @returns the name to use: another one if the file has the name already */
  add(module: string, name: string): string {
    const plain = name.replace(/^type /, '')
    const other = this.imports.get(plain)
    const isTaken = other ? !OLD.test(other.module) : this.declared(plain) !== undefined
    const local = isTaken ? `portico${plain[0]?.toUpperCase()}${plain.slice(1)}` : plain
    const names = this.#added.get(module) ?? new Set()
    names.add(isTaken ? `${name} as ${local}` : name)
    this.#added.set(module, names)
    return local
  }

  replace(node: Node, ...parts: Part[]): void {
    this.changes += 1
    this.edits.replace(rangeOf(node), ...parts)
  }

  /** Removes a statement with its line. */
  removeStatement(statement: Node): void {
    this.changes += 1
    let start = statement.getStart()
    let { end } = statement
    while (start > 0 && /[ \t]/.test(this.text[start - 1] as string)) start -= 1
    while (/[ \t;]/.test(this.text[end] ?? '')) end += 1
    if (this.text[end] === '\r') end += 1
    if (this.text[end] === '\n') end += 1
    this.edits.replace({ start, end }, '')
  }

  /** Leaves a comment above the statement of a node. */
  todo(node: Node, reason: string): void {
    const statement = this.statementOf(node)
    const start = statement.getStart()
    const key = `${start} ${reason}`
    if (this.#leftovers.has(key)) return
    this.#leftovers.set(key, { line: this.text.slice(0, node.getStart()).split('\n').length, reason })
    const lineStart = this.text.lastIndexOf('\n', start - 1) + 1
    const indent = /^[ \t]*/.exec(this.text.slice(lineStart, start))?.[0] ?? ''
    const comment = `// TODO(portico): ${reason}\n${indent}`
    // A run before may have left it.
    const before = /(?:\/\/ TODO\(portico\): .*\n[ \t]*)*$/.exec(this.text.slice(Math.max(0, start - MAX_COMMENTS), start))?.[0] ?? ''
    if (!before.includes(comment)) this.edits.insert(start, comment)
  }

  get leftovers(): Leftover[] {
    return [...this.#leftovers.values()].sort((a, b) => a.line - b.line)
  }

  statementOf(node: Node): Node {
    let current = node
    while (current.parent && !this.is(current.parent, 'SourceFile', 'Block', 'ModuleBlock', 'CaseClause', 'DefaultClause'))
      current = current.parent
    return current
  }

  /** The members of an object literal by name. Undefined if it has spreads or computed names. */
  members(node: Node | undefined): Map<string, Node> | undefined {
    if (!this.is(node, 'ObjectLiteralExpression')) return undefined
    const found = new Map<string, Node>()
    for (const each of node.properties ?? []) {
      const name = each.name?.text
      if (name === undefined || this.is(each, 'SpreadAssignment')) return undefined
      found.set(name, each)
    }
    return found
  }

  /** The value of a member. */
  valueOf(member: Node | undefined): Node | undefined {
    return this.is(member, 'ShorthandPropertyAssignment') ? member.name : member?.initializer
  }

  isText(node: Node | undefined): node is Node & { text: string } {
    return this.is(node, 'StringLiteral', 'NoSubstitutionTemplateLiteral')
  }

  isFunction(node: Node | undefined): node is Checked {
    return this.is(node, 'ArrowFunction', 'FunctionExpression', 'FunctionDeclaration', 'MethodDeclaration')
  }

  /** The initial value of the variable with this name, if the file has exactly one. */
  declared(name: string | undefined): Node | undefined {
    const found = [...this.below(this.root)].filter((node) => this.is(node, 'VariableDeclaration') && node.name?.text === name)
    return found.length === 1 ? found[0]?.initializer : undefined
  }

  /** The name under which the file knows zod. */
  get zod(): string | undefined {
    for (const [local, { module, name }] of this.imports)
      if (/^zod(?:\/v4)?$/.test(module) && (name === 'z' || name === '*' || name === 'default')) return local
    return undefined
  }

  /** Removes imports that are not needed any more, and adds those of Portico. @param modules the modules of the old library */
  finishImports(modules: RegExp, reasons: Readonly<Record<string, string>>): void {
    const old = this.#importStatements().filter((each) => modules.test(each.moduleSpecifier?.text ?? ''))
    const lines = [...this.#added]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([module, names]) => importLine(module, [...names], this.#style))
    const keptOf = (statement: Node): readonly Node[] =>
      (statement.importClause?.namedBindings?.elements ?? []).filter((each) =>
        this.uses(each.name?.text ?? '').some((use) => !this.isConsumed(use)),
      )
    const isWhole = ({ importClause }: Node): boolean =>
      !this.is(importClause?.namedBindings, 'NamedImports') || importClause?.name !== undefined
    const first = old.find((statement) => !isWhole(statement) && keptOf(statement).length === 0)
    if (!first && lines.length > 0) this.edits.insert((old[0] ?? this.root).getStart(), `${lines.join('\n')}\n`)
    for (const statement of old) {
      const kept = keptOf(statement)
      if (isWhole(statement) || kept.length > 0) this.#keepImport(statement, isWhole(statement) ? undefined : kept, reasons)
      else if (statement === first && lines.length > 0) this.replace(statement, lines.join('\n'))
      else this.removeStatement(statement)
    }
  }

  /** @param kept the names that are still used; undefined for the import of a whole module */
  #keepImport(statement: Node, kept: readonly Node[] | undefined, reasons: Readonly<Record<string, string>>): void {
    const names = (kept ?? []).map((each) => (each.propertyName ?? each.name)?.text ?? '')
    const other = `Portico has no ${names.join(', ') || 'such module'} of this form; move what uses it by hand`
    this.todo(statement, reasons[names[0] ?? ''] ?? other)
    const bindings = statement.importClause?.namedBindings
    if (kept && bindings && kept.length < (bindings.elements?.length ?? 0))
      this.replace(bindings, `{ ${kept.map((each) => each.getText()).join(', ')} }`)
  }

  /** The quotes and semicolons of the file. */
  get #style(): { quote: string; end: string } {
    const first = this.#importStatements()[0]
    return { quote: first?.moduleSpecifier?.getText()[0] ?? "'", end: first?.getText().endsWith(';') ? ';' : '' }
  }

  quoted(text: string): string {
    const { quote } = this.#style
    return quote === "'" ? `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'` : JSON.stringify(text)
  }
}

export const rangeOf = (node: Node): { start: number; end: number } => ({ start: node.getStart(), end: node.end })

function importLine(module: string, names: string[], { quote, end }: { quote: string; end: string }): string {
  const sorted = names.sort((a, b) => (a.replace('type ', '').toLowerCase() < b.replace('type ', '').toLowerCase() ? -1 : 1))
  return `import { ${sorted.join(', ')} } from ${quote}${module}${quote}${end}`
}
