/** Prints content blocks and resource contents. */

import { asText } from '../../base/as-text.ts'
import { inertText } from '../../base/text/inert-text.ts'
import type { CallToolResult, ContentBlock, ResourceContents } from '../../client/index.ts'
import type { Io } from '../io.ts'
import { fittedLines } from './fitted.ts'
import { jsonText } from './json.ts'
import { bytesOf, inlineImage, type MediaFolder } from './media.ts'
import { type SafeText, safe, untrusted, untrustedLines } from './safe-text.ts'
import type { Screen } from './screen.ts'
import { structuredLines } from './structured.ts'
import type { Styles } from './style.ts'

interface Where {
  io: Io
  screen: Screen
}

export async function printResult(where: Where, result: CallToolResult, media: MediaFolder, stem: string): Promise<void> {
  const { structuredContent, content } = result
  // Servers repeat structured content as text for older clients.
  const repeated = structuredContent === undefined ? undefined : JSON.stringify(structuredContent)
  for (const block of content) {
    if (block.type === 'text' && repeated !== undefined && isSameJson(block.text, repeated)) continue
    await printBlock(where, block, media, stem)
  }
  if (structuredContent !== undefined) printStructured(where, structuredContent)
}

/** On a terminal formatted for a person. Redirected output is JSON, for programs. */
function printStructured(where: Where, value: unknown): void {
  const { screen } = where
  const { columns } = screen
  if (columns === undefined) return printText(where, jsonText(value, 2))
  for (const line of structuredLines(inertStrings(value), { style: screen.style, columns })) screen.print(line)
}

/** A result as lines, for a place beside other text. Media are named, not shown. @param columns undefined: nothing is formatted */
export function resultLines({ content, structuredContent }: CallToolResult, style: Styles, columns: number | undefined): SafeText[] {
  const repeated = structuredContent === undefined ? undefined : JSON.stringify(structuredContent)
  const texts = content
    .filter((block) => block.type !== 'text' || repeated === undefined || columns === undefined || !isSameJson(block.text, repeated))
    .flatMap((block) => fittedLines(columns === undefined ? blockText(block) : inertText(blockText(block)), columns))
    .map((line) => untrusted(line))
  if (structuredContent === undefined || (columns === undefined && texts.length > 0)) return texts
  if (columns === undefined) return [untrusted(jsonText(structuredContent))]
  return [...texts, ...structuredLines(inertStrings(structuredContent), { style, columns })]
}

function blockText(block: ContentBlock): string {
  if (block.type === 'text') return asText(block.text)
  if (block.type === 'resource_link') return `→ ${asText(block.uri)}`
  if (block.type === 'resource') return 'text' in block.resource ? asText(block.resource.text) : `[resource ${asText(block.resource.uri)}]`
  return `[${block.type} ${asText(block.mimeType)}]`
}

/** A terminal is read by a person: links in it are inert. */
const inertStrings = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, each) => (typeof each === 'string' ? inertText(each) : each))

/** A terminal is read by a person: links in it are inert. Redirected output keeps the bytes of the server. */
const printText = ({ io, screen }: Where, text: string): void => screen.printWhole(untrustedLines(io.stdout.isTTY ? inertText(text) : text))

export function printValue(screen: Screen, value: unknown): void {
  screen.printWhole(untrustedLines(jsonText(value, 2)))
}

export async function printBlock({ io, screen }: Where, block: ContentBlock, media: MediaFolder, stem: string): Promise<void> {
  switch (block.type) {
    case 'text':
      return printText({ io, screen }, asText(block.text))
    case 'image':
    case 'audio':
      return printMedia({ io, screen }, asText(block.data), asText(block.mimeType), block.type, media, stem)
    case 'resource_link':
      return screen.print(safe`${screen.style.cyan('→')} ${asText(block.uri)} ${screen.style.dim(block.title ?? block.name ?? '')}`)
    case 'resource':
      return printContents({ io, screen }, block.resource, media, stem)
    default:
      return printText({ io, screen }, jsonText(block, 2))
  }
}

export async function printContents(where: Where, contents: ResourceContents, media: MediaFolder, stem: string): Promise<void> {
  const { screen } = where
  screen.note(
    safe`${screen.noteStyle.dim(asText(contents.uri))}${screen.noteStyle.dim(contents.mimeType === undefined ? '' : ` (${contents.mimeType})`)}`,
  )
  if ('text' in contents && typeof contents.text === 'string') return printText(where, contents.text)
  if ('blob' in contents && typeof contents.blob === 'string')
    return printMedia(
      where,
      contents.blob,
      contents.mimeType ?? '',
      contents.mimeType?.startsWith('image/') ? 'image' : 'data',
      media,
      stem,
    )
  printText(where, jsonText(contents, 2))
}

async function printMedia(
  { io, screen }: Where,
  base64: string,
  mimeType: string,
  kind: 'image' | 'audio' | 'data',
  media: MediaFolder,
  stem: string,
): Promise<void> {
  const bytes = bytesOf(base64)
  if (!bytes) return screen.print(safe`${screen.style.yellow('!')} The server sent invalid base64 for ${mimeType}`)
  const inline = kind === 'image' ? inlineImage(io, bytes, mimeType) : undefined
  if (inline !== undefined) {
    screen.printBytes(Buffer.from(`${inline}\n`))
    return
  }
  const path = await media.save(bytes, mimeType, stem)
  screen.print(safe`${screen.style.cyan(`[${kind} ${mimeType}, ${bytes.length} bytes]`)} ${path}`)
}

function isSameJson(text: string, json: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === json
  } catch {
    return false
  }
}
