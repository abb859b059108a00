/** Inputs of one server: from the vault if the person wanted them kept, and otherwise from the person. */

import { createHash } from 'node:crypto'
import { McpError } from '../../protocol/errors.ts'
import type { InputSpec, ServerSpec } from '../model/server-spec.ts'
import type { Vault } from '../secrets/vault.ts'

export interface InputAnswer {
  value: string
  /** Do not ask again; it is kept in the vault, secret or not. */
  isKept?: boolean
}

/** Undefined when the person does not say. */
export type AskForInput = (input: InputSpec, spec: ServerSpec) => Promise<InputAnswer | undefined>

/** What resolveWay takes for `input`. Answers are of one server: another that has an input of the same name does not get them. */
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
        `What was given for the input ${id} of ${spec.id} is none of the ${input.options.length} values to choose from`,
      )
    }
    if (answer.isKept) await vault?.set(name, answer.value)
    return answer.value
  }
}

/** Under which name the vault keeps it: readable if it may be, and never that of another input. */
export function inputSecretName(server: string, id: string): string {
  const name = `input/${server}/${id}`
  if (/^[A-Za-z0-9_./-]{1,100}$/.test(name)) return name
  return `input/${createHash('sha256').update(name).digest('base64url')}`
}
