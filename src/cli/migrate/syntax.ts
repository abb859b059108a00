/** The part of the TypeScript compiler that the codemod uses, loaded from the project of the person. */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UsageError } from '../errors.ts'

/** A node of the syntax tree, with the members of all kinds that the codemod looks at. */
export interface Node {
  readonly kind: number
  readonly end: number
  readonly parent: Node
  getStart(): number
  getText(): string
  readonly text?: string
  readonly name?: Node
  readonly propertyName?: Node
  readonly expression?: Node
  readonly arguments?: readonly Node[]
  readonly properties?: readonly Node[]
  readonly elements?: readonly Node[]
  readonly initializer?: Node
  readonly parameters?: readonly Node[]
  readonly body?: Node
  readonly type?: Node
  readonly typeName?: Node
  readonly moduleSpecifier?: Node
  readonly importClause?: Node & { readonly namedBindings?: Node; readonly isTypeOnly?: boolean }
  readonly isTypeOnly?: boolean
  readonly statements?: readonly Node[]
  readonly declarationList?: Node & { readonly declarations: readonly Node[] }
  readonly modifiers?: readonly Node[]
  /** Of a file: its syntax errors. */
  readonly parseDiagnostics?: readonly unknown[]
}

/** A node whose kind was checked. The mark keeps the compiler from ruling out all nodes of other kinds. */
export type Checked = Node & { readonly isChecked: true }

/** The functions of the package `typescript`, versions 5 and 6. */
export interface TypeScript {
  readonly SyntaxKind: Readonly<Record<string, number>>
  readonly ScriptTarget: { readonly Latest: number }
  createSourceFile(name: string, text: string, target: number, setParents: boolean): Node
  forEachChild(node: Node, visit: (child: Node) => void): void
}

const isParser = (module: unknown): module is TypeScript =>
  typeof (module as Partial<TypeScript> | undefined)?.createSourceFile === 'function'

/** TypeScript 7 is a native program without a parser for others. Its makers publish the parser of version 6 under the second name. */
const PACKAGES = ['typescript', '@typescript/typescript6']

/** @param folder the project. Its own TypeScript comes first, then the one next to Portico */
export function loadTypeScript(folder: string): TypeScript {
  for (const from of [pathToFileURL(join(folder, 'package.json')).href, import.meta.url]) {
    for (const name of PACKAGES) {
      const module = required(from, name)
      if (isParser(module)) return module
    }
  }
  throw new UsageError(
    'portico migrate needs the parser of TypeScript 5 or 6, which is not installed here',
    'Install it: npm install --save-dev @typescript/typescript6 (or typescript@6)',
  )
}

function required(from: string, name: string): unknown {
  try {
    return createRequire(from)(name)
  } catch {
    return undefined
  }
}
