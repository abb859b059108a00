/** Checks a filled-in form before it is sent. */

import type { FormSchema } from '../../../protocol/model/elicitation.ts'
import { compileForeign } from '../../../protocol/schema/foreign.ts'
import { describeIssues } from '../../../protocol/schema/json-schema.ts'

/**
 * Checks what a person entered against the form of a server. Resolves with the issues in words, or undefined when there are none.
 *
 * @example
 * const issues = await checkForm(subject.schema, { email: 'nobody' }) // 'email: expected ...'
 */
export async function checkForm(schema: FormSchema, content: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  const checked = (await compileForeign(schema, { assertsFormats: true }))(content)
  return checked.ok ? undefined : describeIssues(checked.issues)
}
