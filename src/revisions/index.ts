/** The supported revisions, oldest first. */

import { McpError } from '../protocol/errors.ts'
import { r20241105 } from './2024-11-05.ts'
import { r20250326 } from './2025-03-26.ts'
import { r20250618 } from './2025-06-18.ts'
import { r20251125 } from './2025-11-25.ts'
import { r20260728 } from './2026-07-28.ts'
import { line, type Revision } from './revision.ts'

export type { Revision } from './revision.ts'

export const REVISIONS: readonly Revision[] = line(r20241105, r20250326, r20250618, r20251125, r20260728)

const byVersion = new Map(REVISIONS.map((revision) => [revision.version, revision]))

export const revisionOf = (version: unknown): Revision | undefined => (typeof version === 'string' ? byVersion.get(version) : undefined)

/** Draft versions that some servers still answer with, and the revisions that they became. */
const DRAFTS = new Map([['2024-10-07', r20241105.version]])

/** The revision in a server's answer to the handshake. */
export const revisionAnswered = (version: unknown): Revision | undefined =>
  revisionOf(typeof version === 'string' ? (DRAFTS.get(version) ?? version) : version)

/** The revisions of these versions, oldest first. Default: all. */
export function selectRevisions(versions: readonly string[] | undefined): readonly Revision[] {
  if (versions === undefined) return REVISIONS
  const unknown = versions.find((version) => !byVersion.has(version))
  if (unknown !== undefined || versions.length === 0) {
    throw new McpError(
      'ERR_VERSION_UNSUPPORTED',
      `Unknown revision ${JSON.stringify(unknown ?? versions)}; supported: ${describeRevisions(REVISIONS)}`,
    )
  }
  return REVISIONS.filter(({ version }) => versions.includes(version))
}

export const describeRevisions = (revisions: readonly Revision[]): string => revisions.map(({ version }) => version).join(', ')
