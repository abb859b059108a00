/** What users can import: the exported names of every entry point, with their declarations and their JSDoc. */

import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ESTree, parseSync } from 'rolldown/utils'

const root = fileURLToPath(new URL('../../', import.meta.url))

export interface PublicName {
  /** The subpath in package.json. */
  entry: string
  name: string
  file: string
  kind: 'function' | 'class' | 'constant' | 'interface' | 'type'
  doc: string | undefined
  members: readonly Member[]
}

export interface Member {
  name: string
  isMethod: boolean
  doc: string | undefined
}

type Declaration = ESTree.Declaration

interface Source {
  file: string
  /** Names declared in this file, exported or not. Of overloads the first. */
  declared: Map<string, { node: Declaration; start: number }>
  /** Names that come from another file. */
  imported: Map<string, { file: string; name: string }>
  exported: Map<string, string>
  /** Files whose exports this file exports, too. */
  passedOn: string[]
  /** The JSDoc on the line before this position. After an empty line it belongs to the file. */
  docBefore(start: number): string | undefined
}

const sources = new Map<string, Source>()

/** The names that users can import from the package. */
export function publicNames(): PublicName[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, { types?: string }> }
  return Object.entries(exports).flatMap(([entry, { types }]) => {
    if (types === undefined) return []
    return namesOf(entry, join(root, types.replace('./dist/', 'src/').replace('.d.ts', '.ts')))
  })
}

/** The exported names of a file, with the declarations that they lead to. */
export function namesOf(entry: string, file: string): PublicName[] {
  const source = sourceOf(file)
  const own = [...source.exported].map(([name, local]) => describe(entry, name, file, local))
  return [...own, ...source.passedOn.flatMap((next) => namesOf(entry, next))]
}

function describe(entry: string, name: string, file: string, local: string): PublicName {
  const found = find(file, local)
  if (found === undefined) throw new Error(`${relative(root, file)} exports ${name}, but no declaration of ${local} was found`)
  const { source, node, start } = found
  const doc = source.docBefore(start)
  return { entry, name, file: relative(root, source.file), kind: kindOf(node), doc, members: [...membersOf(source, node)] }
}

function find(file: string, name: string): { source: Source; node: Declaration; start: number } | undefined {
  const source = sourceOf(file)
  const declared = source.declared.get(name)
  if (declared) return { source, ...declared }
  const imported = source.imported.get(name)
  if (imported) return find(imported.file, sourceOf(imported.file).exported.get(imported.name) ?? imported.name)
  for (const next of source.passedOn) {
    const local = sourceOf(next).exported.get(name)
    if (local !== undefined) return find(next, local)
  }
  return undefined
}

function kindOf(node: Declaration): PublicName['kind'] {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
      return 'function'
    case 'ClassDeclaration':
      return 'class'
    case 'VariableDeclaration':
      return node.declarations[0]?.init?.type === 'ArrowFunctionExpression' ? 'function' : 'constant'
    case 'TSInterfaceDeclaration':
      return 'interface'
    default:
      return 'type'
  }
}

/** The members that users can see, with those of the classes and interfaces that it extends. */
function* membersOf(source: Source, node: Declaration): Iterable<Member> {
  if (node.type === 'ClassDeclaration') {
    const seen = new Set<string>()
    for (const each of node.body.body) {
      if (!('key' in each) || each.key.type !== 'Identifier' || each.computed) continue
      // The documentation of an overridden member is at its base.
      if (each.accessibility === 'private' || each.override) continue
      const { name } = each.key
      if (name === 'constructor' || seen.has(name)) continue
      seen.add(name)
      yield { name, isMethod: each.type === 'MethodDefinition' && each.kind === 'method', doc: source.docBefore(each.start) }
    }
    const base = node.superClass?.type === 'Identifier' ? find(source.file, node.superClass.name) : undefined
    if (base) yield* membersOf(base.source, base.node)
    return
  }
  if (node.type === 'TSInterfaceDeclaration') {
    yield* signatures(source, node.body.body)
    for (const { expression } of node.extends) {
      const base = expression.type === 'Identifier' ? find(source.file, expression.name) : undefined
      if (base) yield* membersOf(base.source, base.node)
    }
  }
  if (node.type === 'TSTypeAliasDeclaration' && node.typeAnnotation.type === 'TSTypeLiteral') {
    yield* signatures(source, node.typeAnnotation.members)
  }
}

function* signatures(source: Source, members: readonly ESTree.TSSignature[]): Iterable<Member> {
  for (const each of members) {
    if (!('key' in each) || each.key.type !== 'Identifier' || each.computed) continue
    yield { name: each.key.name, isMethod: each.type === 'TSMethodSignature', doc: source.docBefore(each.start) }
  }
}

function sourceOf(file: string): Source {
  const known = sources.get(file)
  if (known) return known
  const text = readFileSync(file, 'utf8')
  const { program, comments, errors } = parseSync(file, text)
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`)
  const source: Source = {
    file,
    declared: new Map(),
    imported: new Map(),
    exported: new Map(),
    passedOn: [],
    docBefore: (start) =>
      comments.find(({ value, end }) => value.startsWith('*') && end < start && /^ *\n? *$/.test(text.slice(end, start)))?.value,
  }
  sources.set(file, source)
  for (const statement of program.body) read(statement, source)
  return source
}

function read(statement: ESTree.Program['body'][number], source: Source): void {
  const next = (specifier: string): string => join(dirname(source.file), specifier)
  if (statement.type === 'ImportDeclaration') {
    if (!statement.source.value.startsWith('.')) return
    for (const each of statement.specifiers) {
      if (each.type !== 'ImportSpecifier') continue
      source.imported.set(each.local.name, { file: next(statement.source.value), name: nameOf(each.imported) })
    }
  } else if (statement.type === 'ExportAllDeclaration') {
    source.passedOn.push(next(statement.source.value))
  } else if (statement.type === 'ExportNamedDeclaration') {
    for (const each of statement.specifiers) {
      source.exported.set(nameOf(each.exported), nameOf(each.local))
      if (statement.source) source.imported.set(nameOf(each.local), { file: next(statement.source.value), name: nameOf(each.local) })
    }
    if (statement.declaration) declare(source, statement.declaration, statement.start, true)
  } else if ('id' in statement || statement.type === 'VariableDeclaration') {
    declare(source, statement as Declaration, statement.start, false)
  }
}

function declare(source: Source, node: Declaration, start: number, isExported: boolean): void {
  const ids = node.type === 'VariableDeclaration' ? node.declarations.map(({ id }) => id) : 'id' in node ? [node.id] : []
  for (const id of ids) {
    if (id?.type !== 'Identifier') continue
    if (!source.declared.has(id.name)) source.declared.set(id.name, { node, start })
    if (isExported) source.exported.set(id.name, id.name)
  }
}

const nameOf = (id: ESTree.ModuleExportName): string => (id.type === 'Literal' ? id.value : id.name)
