/** Questions of the host itself about a server: values that its configuration leaves open, and logins. */

import { personUrl } from '../../base/address/person-url.ts'
import { isObject } from '../../base/json.ts'
import { McpError } from '../../protocol/errors.ts'
import type { InputAnswer } from '../config/inputs.ts'
import type { InputSpec } from '../model/server-spec.ts'
import type { HostedServer } from './hosted-server.ts'
import { serverRequest } from './server-request.ts'
import type { ServerServices } from './server-services.ts'

type QuestionServices = Pick<ServerServices, 'gate' | 'ownConversation' | 'taskOf'>

/** Asks the person for an input. They can store the value in the vault, so that they are asked once. */
export async function askForInput(
  services: QuestionServices,
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
      keep: { type: 'boolean' as const, title: 'Keep it in the vault and do not ask again', default: true },
    },
    required: ['value'],
  }
  let given: { value?: unknown; keep?: unknown } = preset === undefined ? {} : { value: preset }
  const defaults = { ...given, keep: true }
  const args = { message, fields: Object.keys(schema.properties) }
  const action = serverRequest(services, server, 'elicit.form', args, {
    subject: () => ({ kind: 'form', message, schema, defaults, warnings: [], ours: { hidden: isSecret ? ['value'] : [] } }),
    edit: (edited) => {
      if (!isObject(edited)) throw new McpError('ERR_INVALID_PARAMS', 'Expected { value } with the value to use')
      given = edited
    },
    initiator: 'user',
    signal,
  })
  return services.gate.run(action, async () =>
    typeof given.value === 'string' ? { value: given.value, isKept: given.keep === true } : undefined,
  )
}

/** Opens the page of an authorization server after the person has seen its address and agreed. */
export async function agreeToLogin(
  services: QuestionServices,
  server: HostedServer,
  href: string,
  openUrl: (url: string, purpose: 'login') => void | Promise<void>,
): Promise<void> {
  const url = personUrl(href)
  if (!url) throw new McpError('ERR_URL_REFUSED', `Expected a login page that is https or on this machine, got ${JSON.stringify(href)}`)
  const message = `${server.id} wants you to log in at ${url.host}`
  // The rest of the address is secret until the login is over, so the audit log gets the host only.
  const action = serverRequest(
    services,
    server,
    'elicit.url',
    { url: url.host, message },
    { subject: () => ({ kind: 'url', message, url }), initiator: 'user' },
  )
  try {
    await services.gate.run(action, async ({ answer }) => {
      if (answer?.isOpened !== true) await openUrl(url.href, 'login')
    })
  } catch (error) {
    if (!(error instanceof McpError) || error.code !== 'ERR_DENIED') throw error
    // The server itself was not denied: it still needs a login.
    throw new McpError('ERR_AUTH', `You are not logged in to ${server.id}: its login page at ${url.host} was not opened`, { cause: error })
  }
}
