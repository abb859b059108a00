/** Gets the inputs of one server: from the vault if the person stored them there, otherwise by asking. */

import { createHash } from 'node:crypto'
import { McpError } from '../../protocol/errors.ts'
import type { InputSpec, ServerSpec } from '../model/server-spec.ts'
import type { Vault } from '../secrets/vault.ts'

export interface InputAnswer {
  value: string
  /** Store the value in the vault, secret or not, and do not ask again. */
  isKept?: boolean
}

/** Asks the person for one input. Undefined: no answer. */
export type AskForInput = (input: InputSpec, spec: ServerSpec) => Promise<InputAnswer | undefined>

/** The `input` resolver for resolveTransport. An answer belongs to one server: other servers with an input of that name do not get it. */
export function inputsFor(spec: ServerSpec, { vault, ask }: { vault?: Vault | undefined; ask: AskForInput }) {
  return async (id: string): Promise<string | undefined> => {
    const input = spec.inputs?.find((each) => each.id === id) ?? { id, isSecret: true }
    const name = inputSecretName(spec.id, id)
    const kept = await vault?.get(name)
    if (kept !== undefined) return kept
    const answer = await ask(input, spec)
    if (!answer) return input.default
    if (input.options && !input.options.includes(answer.value)) {
      throw new McpError(
        'ERR_SECRET',
        `Invalid value for the input ${id} of ${spec.id}: expected one of its ${input.options.length} options`,
      )
    }
    if (answer.isKept) await vault?.set(name, answer.value)
    return answer.value
  }
}

/** The name of an input in the vault: readable where the characters allow it, and different for every input. */
function inputSecretName(server: string, id: string): string {
  const name = `input/${server}/${id}`
  if (/^[A-Za-z0-9_./-]{1,100}$/.test(name)) return name
  return `input/${createHash('sha256').update(name).digest('base64url')}`
}
