/** What the host itself has to ask a person because of a server: values that its configuration leaves open, and logins. */

import { personUrl } from '../../base/address/person-url.ts'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { InputAnswer } from '../config/inputs.ts'
import type { InputSpec } from '../model/server-spec.ts'
import type { HostServices } from '../services/services.ts'
import type { HostedServer } from './hosted-server.ts'
import { serverWant } from './server-answers.ts'

/** A value that only the person knows. A secret one may be kept, so that it is asked for once. */
export async function askForInput(
  parts: HostServices,
  server: HostedServer,
  input: InputSpec,
  signal: AbortSignal,
): Promise<InputAnswer | undefined> {
  const { id, description = id, default: preset, options, isSecret } = input
  const message = `To be started, ${server.id} needs ${description}`
  const schema = {
    type: 'object' as const,
    properties: {
      value: { type: 'string' as const, title: description, ...(options && { enum: [...options] }) },
      keep: { type: 'boolean' as const, title: 'Keep it in the vault and do not ask again', default: false },
    },
    required: ['value'],
  }
  let given: { value?: unknown; keep?: unknown } = preset === undefined ? {} : { value: preset }
  const defaults = { ...given }
  const fields = Object.keys(schema.properties)
  const want = serverWant(
    parts,
    server,
    'elicit.form',
    { message, fields },
    {
      subject: () => ({ kind: 'form', message, schema, defaults, warnings: [], ours: { hidden: isSecret ? ['value'] : [] } }),
      edit: (edited) => {
        if (!isObject(edited)) throw new McpError('ERR_INVALID_PARAMS', 'Expected { value } with what is to be used')
        given = edited
      },
      initiator: 'user',
      signal,
    },
  )
  return parts.gate.run(want, async () =>
    typeof given.value === 'string' ? { value: given.value, isKept: given.keep === true } : undefined,
  )
}

/** The page of an authorization server is opened like any other: after the person has seen where it is. */
export async function agreeToLogin(
  parts: HostServices,
  server: HostedServer,
  href: string,
  openUrl: (url: string) => void | Promise<void>,
): Promise<void> {
  const url = personUrl(href)
  if (!url) throw new McpError('ERR_URL_REFUSED', `Not an address to log in at: ${JSON.stringify(href)}`)
  const message = `${server.id} wants you to log in at ${url.host}`
  // What is in the address beyond the host is secret until the login is over, and is not written down.
  const want = serverWant(
    parts,
    server,
    'elicit.url',
    { url: url.host, message },
    {
      subject: () => ({ kind: 'url', message, url }),
      initiator: 'user',
    },
  )
  await parts.gate.run(want, async () => openUrl(url.href))
}
