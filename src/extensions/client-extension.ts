/** `clientExtension`: methods and notifications of an extension that a client uses. */

import { isObject } from '../base/json.ts'
import { reportError } from '../base/report-error.ts'
import type { ClientExtension, ExtensionConnection } from '../client/extension.ts'
import type { Params } from '../jsonrpc/message.ts'
import { checkMembers } from '../protocol/check-members.ts'
import { McpError } from '../protocol/errors.ts'
import type { Settings } from '../protocol/model/lifecycle.ts'
import { type AnySchema, type SchemaPort, schemaPort } from '../protocol/schema/any-schema.ts'
import { describeIssues } from '../protocol/schema/json-schema.ts'
import type { Revision } from '../revisions/revision.ts'
import { checkDefinition, type MethodSchemas, revisionRule } from './definition.ts'

/** The definition of an extension for a client. */
export interface ClientExtensionDefinition {
  /** Its name, such as `com.example/feature`. */
  id: string
  /** Declared to the server. Default: no settings. */
  settings?: Settings
  /** The protocol revisions that have it. Default: those in which both sides declare extensions. */
  revisions?: readonly string[]
  /** The schemas of its methods, by name. Params are checked before they are sent, results when they arrive. */
  methods?: Readonly<Record<string, MethodSchemas>>
  /** The notifications that `client.notify` may send, by name, with the schemas of their params. */
  sends?: Readonly<Record<string, { params?: AnySchema }>>
  /** Listeners for notifications of the server, by name. Those that do not match their schema are ignored. */
  notifications?: Readonly<Record<string, { params?: AnySchema; handler(params: Record<string, unknown>): void }>>
}

/**
 * An extension for `connect({ use })`. Call its methods with `client.request`, which returns the members of the extension. If the
 * server did not declare the extension, they fail with ERR_CAPABILITY_MISSING.
 *
 * @example
 * const shout = clientExtension({
 *   id: 'com.example/shout',
 *   methods: { 'com.example/shout': { result: z.object({ text: z.string() }) } },
 * })
 * const client = await connect(url, { use: [shout] })
 * const { text } = await client.request('com.example/shout', { text: 'hello' })
 */
export function clientExtension(definition: ClientExtensionDefinition): ClientExtension {
  checkMembers('clientExtension', definition, { id: 1, settings: 1, revisions: 1, methods: 1, sends: 1, notifications: 1 })
  checkDefinition(definition)
  const { id, settings = {}, revisions, methods = {}, sends = {}, notifications = {} } = definition
  const isIn = revisionRule(revisions)
  const ports = new Map(
    Object.entries(methods).map(([name, { params, result }]) => [
      name,
      {
        params: params && schemaPort(params, 'input', `${name} params`),
        result: result && schemaPort(result, 'input', `${name} result`),
      },
    ]),
  )
  const sent = new Map(Object.entries(sends).map(([name, { params }]) => [name, params && schemaPort(params, 'input', `${name} params`)]))
  const listeners = new Map(
    Object.entries(notifications).map(([name, { params, handler }]) => [
      name,
      { port: params && schemaPort(params, 'input', `${name} params`), handler },
    ]),
  )
  /** Throws if the connection does not have the extension. */
  const checkShared = (method: string, { server, revision }: Pick<ExtensionConnection, 'server' | 'revision'>): void => {
    if (!isIn(revision)) throw new McpError('ERR_UNSUPPORTED', `Protocol revision ${revision.version} has no ${method}`)
    const declared = server.capabilities.extensions
    if (revision.hasExtensions && !(isObject(declared) && Object.hasOwn(declared, id)))
      throw new McpError('ERR_CAPABILITY_MISSING', `${method} needs the extension ${id}, which the server did not declare`)
  }
  const request = async (method: string, given: Params, connection: ExtensionConnection): Promise<Params> => {
    const { send } = connection
    checkShared(method, connection)
    const { params, result } = ports.get(method) ?? {}
    await checked(`${method} params`, given, params, 'ERR_INVALID_PARAMS')
    return checked(`The result of ${method}`, await send(given), result, 'ERR_ANSWER_INVALID')
  }
  return {
    id,
    settings,
    request: (method, params, connection) => (ports.has(method) ? request(method, params, connection) : undefined),
    notification: (method, params, dialect) => {
      if (!sent.has(method)) return undefined
      checkShared(method, dialect)
      return checked(`${method} params`, params, sent.get(method), 'ERR_INVALID_PARAMS')
    },
    notice: (method: string, params: Params, revision: Revision) => {
      const listener = isIn(revision) ? listeners.get(method) : undefined
      if (listener) void tell(method, params, listener)
    },
  }
}

/** The members of the extension, as the schema reads them: without those that the protocol adds. */
async function checked(
  what: string,
  given: Params,
  port: SchemaPort | undefined,
  code: 'ERR_INVALID_PARAMS' | 'ERR_ANSWER_INVALID',
): Promise<Params> {
  const { _meta, resultType: _, ...rest } = given
  const read = port ? await port.check(rest) : { ok: true as const, value: rest }
  if (!read.ok) throw new McpError(code, `${what}: ${describeIssues(read.issues)}`)
  return read.value as Params
}

/** A notification has no answer, so its errors are only logged. */
async function tell(
  method: string,
  given: Params,
  { port, handler }: { port: SchemaPort | undefined; handler(params: Params): void },
): Promise<void> {
  const { _meta, ...rest } = given
  try {
    const read = port ? await port.check(rest) : { ok: true as const, value: rest }
    // Awaited, because a listener may be asynchronous, and its rejection would end the process.
    if (read.ok) await (handler(read.value as Params) as unknown)
  } catch (error) {
    reportError(`portico: the listener for ${method} failed:`, error)
  }
}
