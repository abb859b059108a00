/** Reads the YAML at the beginning of a SKILL.md. */

import { isObject } from '../base/json.ts'
import { prototypeKeyIn } from '../base/prototype-keys.ts'
import { McpError } from '../protocol/errors.ts'
import type { SkillFrontmatter } from '../protocol/model/skills.ts'
import { isSkillName, NAME_RULE } from './skill-uri.ts'

/** More is not needed, and parsing takes time. */
const MAX_CHARACTERS = 64 * 1024
/** Parsers call themselves for each level. */
const MAX_DEPTH = 32

/** What is wrong, and the line of the file. */
export class FrontmatterError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/**
 * The frontmatter of a SKILL.md.
 * @throws FrontmatterError
 */
export async function readFrontmatter(text: string): Promise<SkillFrontmatter> {
  const parse = await loadParser()
  const yaml = yamlIn(text.startsWith('\u{feff}') ? text.slice(1) : text)
  const value = parsed(parse, yaml)
  if (!isObject(value)) throw new FrontmatterError(2, 'the frontmatter must have the members name and description')
  const strange = notJson(value, 0) ?? prototypeKeyIn(value)
  if (strange !== undefined) throw new FrontmatterError(2, `the frontmatter has a value that JSON cannot have: ${strange}`)
  const fault = frontmatterFault(value)
  if (fault !== undefined) throw new FrontmatterError(lineOf(yaml, fault.member), fault.text)
  return value as SkillFrontmatter
}

/** What is wrong with name or description; undefined if nothing is. */
export function frontmatterFault(value: unknown): { member: string; text: string } | undefined {
  if (!isObject(value)) return { member: '', text: 'the frontmatter must be an object' }
  const { name, description } = value
  if (typeof name !== 'string') return { member: 'name', text: 'the frontmatter needs a name, a text' }
  if (!isSkillName(name)) return { member: 'name', text: `the name must have ${NAME_RULE}, got ${JSON.stringify(name.slice(0, 100))}` }
  if (typeof description !== 'string' || description.trim() === '')
    return { member: 'description', text: 'the frontmatter needs a description, a text' }
  return undefined
}

type Parse = (yaml: string) => { value: unknown } | { line: number; message: string }

let parser: Promise<Parse> | undefined

/** The parser is an optional package: most servers and clients have no skills. */
function loadParser(): Promise<Parse> {
  parser ??= import('yaml').then(
    ({ LineCounter, parseDocument, isScalar, visit }) =>
      (yaml) => {
        const lines = new LineCounter()
        const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false, logLevel: 'silent', uniqueKeys: false })
        // The parser compares each key with each other one, which takes seconds for thousands of keys.
        let twice: number | undefined
        visit(document, {
          Map: (_key, { items }) => {
            const seen = new Set<unknown>()
            for (const { key } of items) {
              if (!isScalar(key)) continue
              if (seen.has(key.value)) twice ??= key.range?.[0] ?? 0
              seen.add(key.value)
            }
          },
        })
        if (twice !== undefined) return { line: lines.linePos(twice).line, message: 'Map keys must be unique' }
        // A tag that the parser does not know is only a warning to it, but the value has no meaning in JSON.
        const fault = document.errors[0] ?? document.warnings[0]
        if (fault) return { line: lines.linePos(fault.pos[0]).line, message: fault.message }
        return { value: document.toJS({ maxAliasCount: 100 }) as unknown }
      },
    (cause: unknown) => {
      parser = undefined
      throw new McpError('ERR_UNSUPPORTED', 'Skills need the package yaml, which is not installed; run: npm install yaml', { cause })
    },
  )
  return parser
}

function parsed(parse: Parse, yaml: string): unknown {
  let read: ReturnType<Parse>
  try {
    read = parse(yaml)
  } catch (error) {
    const why = error instanceof RangeError ? 'it is nested too deeply' : (error as Error).message
    throw new FrontmatterError(2, `the frontmatter cannot be read as YAML: ${why}`)
  }
  if ('value' in read) return read.value
  // The YAML begins in the second line of the file.
  throw new FrontmatterError(read.line + 1, `the frontmatter cannot be read as YAML: ${read.message}`)
}

/** The text between the first two lines of three hyphens. */
function yamlIn(text: string): string {
  const first = /^---[ \t]*\r?\n/.exec(text)
  if (!first) throw new FrontmatterError(1, 'expected the file to begin with a line of three hyphens, then YAML with name and description')
  const rest = text.slice(first[0].length, first[0].length + MAX_CHARACTERS + 8)
  const end = /^---[ \t]*$/m.exec(rest.replaceAll('\r\n', '\n'))
  if (!end) {
    const why = rest.length > MAX_CHARACTERS ? ` within ${MAX_CHARACTERS} characters` : ''
    throw new FrontmatterError(1, `the frontmatter must end with a line of three hyphens${why}`)
  }
  return rest.replaceAll('\r\n', '\n').slice(0, end.index)
}

/** The line of a member in the file. */
function lineOf(yaml: string, member: string): number {
  const at = yaml.split('\n').findIndex((line) => line.startsWith(`${member}:`))
  return at < 0 ? 2 : at + 2
}

/** The first value that JSON does not have: NaN, infinity, a key that is not a text. */
function notJson(value: unknown, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return 'values nested too deeply'
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (Array.isArray(value) || isObject(value)) {
    for (const each of Object.values(value)) {
      const found = notJson(each, depth + 1)
      if (found !== undefined) return found
    }
    return undefined
  }
  return typeof value
}
