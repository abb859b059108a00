/** The protocol revisions that Portico speaks, for programs that let a person choose. */

import { REVISIONS } from './index.ts'

/**
 * The supported protocol revisions, oldest first, with the way each handles state.
 *
 * @example
 * const versions = SUPPORTED_REVISIONS.map(({ version }) => version)
 */
export const SUPPORTED_REVISIONS: readonly { version: string; dialect: 'session' | 'stateless' }[] = REVISIONS.map(
  ({ version, dialect }) => ({ version, dialect }),
)
