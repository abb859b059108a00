/** The labels that something carries because of where it came from. */

import type { Tool, ToolAnnotations } from '../../../protocol/model/tools.ts'
import { EGRESS, PRIVATE, UNTRUSTED } from '../../model/label.ts'
import type { Finding } from '../../model/question.ts'
import type { ServerSpec } from '../../model/server-spec.ts'

type Origin = Pick<ServerSpec, 'tier' | 'labels'>

/**
 * What a tool returned. It may hold words of strangers when the server is not trusted, when the tool reaches into an open
 * world, or when it reads like instructions. The server's own hint counts only where it makes matters worse.
 */
export function labelsOfResult(server: Origin, tool: Tool, asserted: ToolAnnotations, findings: readonly Finding[] = []): string[] {
  const reachesOut = asserted.openWorldHint ?? tool.annotations?.openWorldHint ?? false
  return labelled(server, [...(reachesOut ? [UNTRUSTED] : []), ...labelsOfFindings(findings)])
}

/** What was read from a URI: pages are anybody's, files are the person's own. */
export function labelsOfResource(server: Origin, uri: string, findings: readonly Finding[] = []): string[] {
  const scheme = /^[a-z][a-z0-9+.-]{0,30}(?=:)/i.exec(uri)?.[0].toLowerCase()
  const ofScheme = scheme === 'http' || scheme === 'https' ? [UNTRUSTED] : scheme === 'file' ? [`${PRIVATE}files`] : []
  return labelled(server, [...ofScheme, ...labelsOfFindings(findings)])
}

/** What else a server said: a prompt, suggestions. */
export const labelsOfWords = (server: Origin, findings: readonly Finding[] = []): string[] => labelled(server, labelsOfFindings(findings))

/** What reads like instructions may be those of strangers, whoever passes them on. */
const labelsOfFindings = (findings: readonly Finding[]): string[] => (findings.some(({ kind }) => kind === 'injection') ? [UNTRUSTED] : [])

function labelled({ tier, labels = [] }: Origin, more: readonly string[]): string[] {
  // Where data goes is a matter of the server; the data does not take it along.
  const own = labels.filter((label) => label !== EGRESS)
  return [...new Set([...own, ...more, ...(tier === 'untrusted' ? [UNTRUSTED] : [])])]
}
