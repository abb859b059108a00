/** The error for a skill that cannot be used. */

import { McpError } from '../protocol/errors.ts'

/**
 * Why a skill or a file of it cannot be used.
 *
 * - `entry`: the entry of the skill is not valid
 * - `limit`: the skill has too many files, or they are too large
 * - `unlisted`: the entry does not list the file
 * - `contents`: the server did not answer with the contents of the file
 * - `size`, `digest`, `frontmatter`: the file is not the one that the entry describes
 */
export type SkillFault = 'entry' | 'limit' | 'unlisted' | 'contents' | 'size' | 'digest' | 'frontmatter'

/**
 * A skill, or a file of it, is not what its server says. Its content must not be used. `code` is ERR_ANSWER_INVALID.
 *
 * @example
 * try {
 *   await skills.load(uri)
 * } catch (error) {
 *   if (error instanceof SkillError && error.fault === 'digest') console.error('The skill changed; get its entry again')
 * }
 */
export class SkillError extends McpError {
  override readonly name = 'SkillError'
  /** What is wrong. */
  readonly fault: SkillFault
  /** The URI of the skill or of the file. */
  readonly uri: string

  constructor(fault: SkillFault, uri: string, message: string, cause?: unknown) {
    super('ERR_ANSWER_INVALID', message, { data: { fault, uri }, cause })
    this.fault = fault
    this.uri = uri
  }
}
