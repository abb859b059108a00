/** Builds answers from existing text: the first lines of a result, or the relevant sentences of a text. */

import { asText } from '../../base/as-text.ts'
import type { ContentBlock } from '../../protocol/model/content.ts'
import type { ToolResultContent } from '../../protocol/model/sampling.ts'
import { jsonSentence } from './json-sentence.ts'
import { words } from './words.ts'

const MAX_LINES = 12
const MAX_LINE_CHARS = 300
const MAX_SENTENCES = 3
const MAX_TEXT_CHARS = 200_000

/** A short version of a tool result. */
export function answerFrom(name: string, { content, structuredContent, isError }: ToolResultContent): string {
  const lines = content
    .flatMap(textLines)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
  if (isError) return `${name} failed: ${shorten(lines.join(' ')) || 'no reason given'}`
  const json = lines.length === 0 ? structuredContent : jsonIn(lines.join('\n'))
  if (json !== undefined) return jsonSentence(name, json)
  if (lines.length === 0) return `${name}: done, no output.`
  const shown = lines.slice(0, MAX_LINES).map(shorten).join('\n')
  if (lines.length === 1) return `${name}: ${shown}`
  return lines.length > MAX_LINES
    ? `${name}, the first ${MAX_LINES} of ${lines.length} lines:\n${shown}`
    : `${name}, ${lines.length} lines:\n${shown}`
}

/** Undefined: it is no JSON object or array. */
function jsonIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function textLines(block: ContentBlock): string[] {
  switch (block.type) {
    case 'text':
      return block.text.slice(0, MAX_TEXT_CHARS).split('\n')
    case 'image':
    case 'audio':
      return [`(${block.type}, ${block.mimeType})`]
    case 'resource_link':
      return [`${block.title ?? block.name}: ${block.uri}`]
    case 'resource':
      return 'text' in block.resource ? asText(block.resource.text).slice(0, MAX_TEXT_CHARS).split('\n') : [block.resource.uri]
  }
}

const shorten = (line: string): string => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)} …` : line)

/** The sentences that share most words with the task, in their order; the first sentences if none does. */
export function extract(text: string): string {
  const { task, body } = split(text.slice(0, MAX_TEXT_CHARS))
  const wanted = new Set(words(task))
  const sentences = sentencesOf(body)
  const worth = sentences.map((sentence, at) => ({ at, sentence, hits: new Set(words(sentence).filter((word) => wanted.has(word))).size }))
  const best = worth.sort((a, b) => b.hits - a.hits || a.at - b.at).slice(0, MAX_SENTENCES)
  return best
    .sort((a, b) => a.at - b.at)
    .map(({ sentence }) => sentence)
    .join(' ')
}

/** Splits the task from its text, at a colon or at the end of the first line. */
function split(text: string): { task: string; body: string } {
  const match = /^([^\n]{0,300}?)(?::\s+|\n+)([\s\S]+)$/.exec(text.trim())
  return match?.[2] === undefined ? { task: '', body: text.trim() } : { task: match[1] ?? '', body: match[2].trim() }
}

const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
