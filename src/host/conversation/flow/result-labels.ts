/** The labels of data by its origin. */

import type { Tool, ToolAnnotations } from '../../../protocol/model/tools.ts'
import { EGRESS, PRIVATE, UNTRUSTED } from '../../model/label.ts'
import type { Finding } from '../../model/question.ts'
import type { ServerSpec } from '../../model/server-spec.ts'

type Origin = Pick<ServerSpec, 'tier' | 'labels'>

export interface ResultFacts {
  findings?: readonly Finding[]
  /** The server has folders, or the request named a path on this computer. */
  mayContainFiles?: boolean
}

/**
 * Labels of a tool result. It is untrusted when the server is untrusted, the tool is open-world, or the text looks like an injection.
 * It is private when it may contain files of the person. A hint of the server counts only if it adds a label.
 */
export function labelsOfResult(server: Origin, tool: Tool, asserted: ToolAnnotations, facts: ResultFacts = {}): string[] {
  const reachesOut = asserted.openWorldHint ?? tool.annotations?.openWorldHint ?? false
  return labelled(server, [...labelsOfFacts(facts), ...(reachesOut ? [UNTRUSTED] : [])])
}

const PRIVATE_FILES = `${PRIVATE}files`

/** Labels of a resource: web pages are untrusted, files are private. */
export function labelsOfResource(server: Origin, uri: string, facts: ResultFacts = {}): string[] {
  const scheme = /^[a-z][a-z0-9+.-]{0,30}(?=:)/i.exec(uri)?.[0].toLowerCase()
  const ofScheme = scheme === 'http' || scheme === 'https' ? [UNTRUSTED] : scheme === 'file' ? [PRIVATE_FILES] : []
  return labelled(server, [...ofScheme, ...labelsOfFacts(facts)])
}

/** Labels of other server text: prompts and suggestions. */
export const labelsOfWords = (server: Origin, facts: ResultFacts = {}): string[] => labelled(server, labelsOfFacts(facts))

/** Text that looks like an injection is untrusted, whichever server sent it. */
const labelsOfFacts = ({ findings = [], mayContainFiles = false }: ResultFacts): string[] => [
  ...(mayContainFiles ? [PRIVATE_FILES] : []),
  ...(findings.some(({ kind }) => kind === 'injection') ? [UNTRUSTED] : []),
]

function labelled({ tier, labels = [] }: Origin, more: readonly string[]): string[] {
  // `egress` describes the server, not its data.
  const own = labels.filter((label) => label !== EGRESS)
  return [...new Set([...own, ...more, ...(tier === 'untrusted' ? [UNTRUSTED] : [])])]
}
