/** Capabilities as one form: what older peers say in fewer words is spelled out. */

import { isObject } from '../base/json.ts'
import type { ClientCapabilities } from '../protocol/model/lifecycle.ts'

/** `elicitation: {}` means forms. */
export function normalCapabilities(declared: ClientCapabilities): ClientCapabilities {
  const { elicitation } = declared
  if (!isObject(elicitation) || 'form' in elicitation || 'url' in elicitation) return declared
  return { ...declared, elicitation: { form: {} } }
}
