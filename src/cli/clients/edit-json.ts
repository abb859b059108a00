/**
 * Changes one entry of a JSON file with comments, and no other byte. (`modify` of jsonc-parser formats the neighbours of an entry again,
 * and moves their comments.)
 */

import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  type SyntaxKind,
} from 'jsonc-parser'
import { UsageError } from '../errors.ts'

// The enum of jsonc-parser exists for the compiler only.
const [COMMA, LINE_COMMENT, BLOCK_COMMENT, LINE_BREAK, SPACE]: SyntaxKind[] = [5, 12, 13, 14, 15]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, END]: SyntaxKind[] = [1, 2, 3, 4, 17]

const MAX_DEPTH = 200

const BYTE_ORDER_MARK = '\u{feff}'

export interface EditedFile {
  /** For messages. */
  file: string
  /** The member of the root that holds the servers. */
  member: string
}

/**
 * The text with the entry in place of a former one, or added, or removed when `entry` is undefined.
 * @throws UsageError if the text is not JSON, or has no place for the entry
 */
export function withEntry(text: string, place: EditedFile, name: string, entry: object | undefined): string {
  const { file, member } = place
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  const plain = text.slice(mark.length)
  const json = plain.trim() === '' ? '{}\n' : plain
  const root = rootOf(json, file, member)
  const servers = findNodeAtLocation(root, [member])
  const property = servers?.children?.find((each) => nameOf(each) === name)
  const style = styleOf(json)
  const edits =
    entry === undefined
      ? removal(json, servers, property)
      : property
        ? [replacement(json, style, property, entry)]
        : servers
          ? insertion(json, style, servers, name, entry)
          : insertion(json, style, root, member, Object.fromEntries([[name, entry]]))
  return mark + applied(json, edits)
}

/** The names of the entries. */
export function entryNames(text: string, { file, member }: EditedFile): string[] {
  const plain = text.replace(BYTE_ORDER_MARK, '')
  if (plain.trim() === '') return []
  return (findNodeAtLocation(rootOf(plain, file, member), [member])?.children ?? []).map(nameOf)
}

const nameOf = (property: Node): string => String(property.children?.[0]?.value)

/** Refuses what cannot be edited without losing something. */
function rootOf(json: string, file: string, member: string): Node {
  checkDepth(json, file)
  const errors: ParseError[] = []
  const root = parseTree(json, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first || !root)
    throw new UsageError(
      `${file} is not valid JSON${first ? `: line ${lineAt(json, first.offset)}: ${printParseErrorCode(first.error)}` : ''}`,
      'Correct the file first. Nothing was written.',
    )
  if (root.type !== 'object') throw new UsageError(`${file}: expected an object, got ${root.type}`)
  const servers = findNodeAtLocation(root, [member])
  if (servers && servers.type !== 'object')
    throw new UsageError(`${file}: expected an object in ${JSON.stringify(member)}, got ${servers.type}`)
  const doubled = doubledName(root) ?? (servers && doubledName(servers))
  if (doubled !== undefined) throw new UsageError(`${file} has the member ${JSON.stringify(doubled)} twice`, 'Remove one of them first')
  return root
}

function doubledName(object: Node): string | undefined {
  const seen = new Set<string>()
  for (const property of object.children ?? []) {
    const name = nameOf(property)
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

/** The parser calls itself for each level, so a deep file would exhaust the stack. */
function checkDepth(json: string, file: string): void {
  const scanner = createScanner(json, true)
  let depth = 0
  for (let kind = scanner.scan(); kind !== END; kind = scanner.scan()) {
    if (kind === OPEN_OBJECT || kind === OPEN_ARRAY) depth++
    else if (kind === CLOSE_OBJECT || kind === CLOSE_ARRAY) depth--
    if (depth > MAX_DEPTH) throw new UsageError(`${file} has more than ${MAX_DEPTH} levels of objects and arrays`, 'Nothing was written.')
  }
}

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

interface Edit {
  from: number
  to: number
  text: string
}

const applied = (json: string, edits: readonly Edit[]): string =>
  [...edits].sort((a, b) => b.from - a.from).reduce((text, { from, to, text: put }) => text.slice(0, from) + put + text.slice(to), json)

interface Style {
  indent: string
  eol: string
}

/** New lines look like the lines that are there. */
const styleOf = (json: string): Style => ({
  indent: /\n([ \t]+)["/]/.exec(json)?.[1] ?? '  ',
  eol: json.includes('\r\n') ? '\r\n' : '\n',
})

const written = (value: unknown, { indent, eol }: Style, lead: string): string =>
  JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${lead}`)

const endOf = ({ offset, length }: Node): number => offset + length

function replacement(json: string, style: Style, property: Node, entry: object): Edit {
  const value = property.children?.[1] as Node
  return { from: value.offset, to: endOf(value), text: written(entry, style, leadAt(json, property.offset)) }
}

/** Adds a member at the end of an object, after the comments that belong to the member before it. */
function insertion(json: string, style: Style, object: Node, name: string, value: unknown): Edit[] {
  const outer = leadAt(json, object.offset)
  const last = object.children?.at(-1)
  const lead = last && startsLine(json, last.offset) ? leadAt(json, last.offset) : outer + style.indent
  const after = last ? endOf(last) : object.offset + 1
  const comma = last ? commaAfter(json, after) : undefined
  const at = endOfComments(json, comma === undefined ? after : comma + 1, !last)
  const closing = endOf(object) - 1
  // A bracket on the same line moves to a line of its own.
  const isLastOnLine = json.slice(at, closing).trim() === '' && !json.slice(at, closing).includes('\n')
  const put = `${style.eol}${lead}${JSON.stringify(name)}: ${written(value, style, lead)}${comma === undefined ? '' : ','}`
  const text = isLastOnLine ? { from: at, to: closing, text: `${put}${style.eol}${outer}` } : { from: at, to: at, text: put }
  if (!last || comma !== undefined) return [text]
  // At the same place the comma comes first.
  return at === after ? [{ ...text, text: `,${text.text}` }] : [text, { from: after, to: after, text: ',' }]
}

function removal(json: string, object: Node | undefined, property: Node | undefined): Edit[] {
  if (!object || !property) return []
  const children = object.children ?? []
  const before = children[children.indexOf(property) - 1]
  const comma = commaAfter(json, endOf(property))
  const to = comma === undefined ? endOf(property) : comma + 1
  const lead = startsLine(json, property.offset) ? leadAt(json, property.offset).length : 0
  const lineBreak = lead === 0 ? '' : (/\r?\n$/.exec(json.slice(0, property.offset - lead))?.[0] ?? '')
  const isWholeLine = lineBreak !== '' && /^[ \t]*(?:\r?\n|\})/.test(json.slice(to))
  const cut = { from: isWholeLine ? property.offset - lead - lineBreak.length : property.offset, to, text: '' }
  const orphan = comma === undefined && before ? commaAfter(json, endOf(before)) : undefined
  return orphan === undefined ? [cut] : [cut, { from: orphan, to: orphan + 1, text: '' }]
}

const leadAt = (json: string, offset: number): string => /^[ \t]*/.exec(json.slice(json.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? ''

const startsLine = (json: string, offset: number): boolean => json.slice(json.lastIndexOf('\n', offset - 1) + 1, offset).trim() === ''

/** The place of the next comma, if only comments are before it. */
function commaAfter(json: string, offset: number): number | undefined {
  const scanner = createScanner(json, true)
  scanner.setPosition(offset)
  return scanner.scan() === COMMA ? scanner.getTokenOffset() : undefined
}

/** The end of the comments that follow, on the same line or on all lines. */
function endOfComments(json: string, offset: number, onAllLines: boolean): number {
  const scanner = createScanner(json, false)
  scanner.setPosition(offset)
  let end = offset
  for (;;) {
    const kind = scanner.scan()
    if (kind === LINE_COMMENT || kind === BLOCK_COMMENT) end = scanner.getPosition()
    else if (kind !== SPACE && !(onAllLines && kind === LINE_BREAK)) return end
  }
}
