/** A value edited as JSON on one line. */

import { isObject } from '../../jsonrpc/message.ts'
import { jsonText } from '../output/json.ts'
import type { Showable } from '../output/shown.ts'
import type { Prompts } from './prompts.ts'

/** @param faultOf says what is wrong with what was typed, or undefined */
export async function editObject(
  prompts: Prompts,
  message: Showable,
  value: unknown,
  faultOf: (edited: Record<string, unknown>) => string | undefined = () => undefined,
): Promise<Record<string, unknown>> {
  const typed = await prompts.line(message, {
    initial: jsonText(value),
    validate: (text) => {
      const parsed = objectIn(text)
      return parsed === undefined ? 'Expected a JSON object' : faultOf(parsed)
    },
  })
  return objectIn(typed) as Record<string, unknown>
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
