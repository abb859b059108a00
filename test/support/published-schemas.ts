/** Judges messages by the published JSON Schemas of the protocol, which are kept beside the project, not in it. */

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

const folder = fileURLToPath(new URL('../../../shared/spec/schema/', import.meta.url))

export const hasPublishedSchemas = existsSync(folder)

if (!hasPublishedSchemas) console.warn('NOTE: the published schemas are not here, so no message of this run is judged by them.')

type Json = Record<string, unknown>
interface Definitions {
  validate(name: string): ValidateFunction
  names: string[]
  definitionOf(method: string): string | undefined
}

const loaded = new Map<string, Definitions>()

/** The definitions of one revision, closed: a member that the revision does not know is an error. */
export function definitionsOf(revision: string): Definitions {
  const known = loaded.get(revision)
  if (known) return known
  const document = JSON.parse(readFileSync(`${folder}${revision}.json`, 'utf8')) as Json
  const key = '$defs' in document ? '$defs' : 'definitions'
  const definitions = document[key] as Record<string, Json>
  allowStructuredOutput(definitions)
  joinParts(definitions)
  for (const definition of Object.values(definitions)) close(definition)
  // The published files were generated with "integer" for every number; the types they come from say number.
  if (definitions.ElicitResult)
    definitions.ElicitResult = JSON.parse(JSON.stringify(definitions.ElicitResult).replaceAll('"integer"', '"number"')) as Json
  const options = { strict: false, allErrors: true, validateFormats: false }
  const ajv = key === '$defs' ? new Ajv2020(options) : new Ajv(options)
  ajv.addSchema({ ...document, $id: `mcp:${revision}` } as AnySchemaObject)
  const byMethod = new Map<string, string>()
  for (const [name, definition] of Object.entries(definitions)) {
    const method = ((definition.properties as Json | undefined)?.method as Json | undefined)?.const
    if (typeof method === 'string') byMethod.set(method, name)
  }
  const result: Definitions = {
    names: Object.keys(definitions),
    definitionOf: (method) => byMethod.get(method),
    validate: (name) => {
      const validate = ajv.getSchema(`mcp:${revision}#/${key}/${name}`)
      if (!validate) throw new Error(`${revision} has no definition ${name}`)
      return validate
    },
  }
  loaded.set(revision, result)
  return result
}

/** Sent in every revision: no schema forbids it, and a bridge may name an old revision for a newer client. */
function allowStructuredOutput(definitions: Record<string, Json>): void {
  for (const [name, member] of [
    ['Tool', 'outputSchema'],
    ['CallToolResult', 'structuredContent'],
  ] as const) {
    const definition = definitions[name] as Json
    definition.properties = { [member]: { type: 'object' }, ...(definition.properties as Json) }
  }
}

/** Joins the parts of a definition into one object: closed one by one, each would refuse the members of the other. */
function joinParts(definitions: Record<string, Json>): void {
  for (const [name, { allOf }] of Object.entries(definitions)) {
    if (!Array.isArray(allOf)) continue
    const parts = (allOf as Json[]).map(({ $ref }) => definitions[String($ref).split('/').at(-1) ?? ''])
    if (!parts.every((part) => part?.properties && part.additionalProperties === undefined)) continue
    const properties = Object.assign({}, ...parts.map((part) => part?.properties)) as Json
    definitions[name] = { type: 'object', properties, required: parts.flatMap((part) => (part?.required as string[] | undefined) ?? []) }
  }
}

// What an author writes into a tool's schema, and metadata, are open by their nature.
const OPEN = new Set(['inputSchema', 'outputSchema', '_meta'])

function close(schema: unknown, name = ''): void {
  if (Array.isArray(schema)) {
    for (const each of schema) close(each)
    return
  }
  if (typeof schema !== 'object' || schema === null || OPEN.has(name)) return
  const object = schema as Json
  const properties = object.properties as Json | undefined
  if (properties && object.additionalProperties === undefined && !isMeta(properties)) {
    object.additionalProperties = false
    // Older schemas leave these to the types that theirs extend.
    if ('method' in properties) Object.assign(properties, { jsonrpc: true, id: true, ...properties })
    if (name === 'params') Object.assign(properties, { _meta: true, ...properties })
  }
  for (const [key, each] of Object.entries(object)) {
    if (key === 'properties') for (const [property, inner] of Object.entries(each as Json)) close(inner, property)
    else close(each)
  }
}

const isMeta = (properties: Json): boolean =>
  'progressToken' in properties && !('progress' in properties)
    ? true
    : Object.keys(properties).some((key) => key.startsWith('io.modelcontextprotocol/'))

const EMPTY_RESULTS = new Set(['PingRequest', 'SetLevelRequest', 'SubscribeRequest', 'UnsubscribeRequest'])

/** Follows one conversation and collects what the published schema of its revision says against it. */
export class Judge {
  readonly faults: string[] = []
  judged = 0
  readonly #revision: string
  readonly #pending = new Map<string, string>()

  constructor(revision: string) {
    this.#revision = revision
  }

  judge({ from, json }: { from: 'client' | 'server'; json: string }): void {
    if (!hasPublishedSchemas) return
    const value = JSON.parse(json) as unknown
    for (const message of Array.isArray(value) ? value : [value]) this.#judgeOne(from, message as Json)
  }

  /** Takes note of a message without judging it. */
  follow(message: { from: 'client' | 'server'; json: string }): void {
    const before = this.faults.length
    this.judge(message)
    this.faults.length = before
  }

  #judgeOne(from: 'client' | 'server', message: Json): void {
    this.judged++
    const { id, method, result, error } = message
    if (typeof method === 'string') {
      // The probe of a newer client is not a message of the revision that is agreed on later.
      if (method === 'server/discover' && this.#revision < '2026') return
      const definition = definitionsOf(this.#revision).definitionOf(method)
      if (!definition) return this.#fault(from, message, `${this.#revision} has no ${method}`)
      if (id !== undefined) this.#pending.set(`${from}:${JSON.stringify(id)}`, definition)
      return this.#check(definition, message, from, message)
    }
    if (error !== undefined) {
      const names = definitionsOf(this.#revision).names
      // Before an error could leave its id out, JSON-RPC's null stood for an id that was not readable.
      if (id === null && !names.includes('JSONRPCErrorResponse')) return
      return this.#check(names.includes('JSONRPCErrorResponse') ? 'JSONRPCErrorResponse' : 'JSONRPCError', message, from, message)
    }
    const asked = this.#pending.get(`${from === 'client' ? 'server' : 'client'}:${JSON.stringify(id)}`)
    if (!asked) return this.#fault(from, message, 'an answer to nothing')
    this.#check(this.#resultOf(asked, result as Json), result, from, message)
  }

  #resultOf(request: string, result: Json): string {
    if (result.resultType === 'input_required') return 'InputRequiredResult'
    // A call with a wish for a task is answered with the task.
    if (request === 'CallToolRequest' && 'task' in result) return 'CreateTaskResult'
    // The result of a task has the form of the call's result.
    if (request === 'GetTaskPayloadRequest') return 'CallToolResult'
    return EMPTY_RESULTS.has(request) ? 'EmptyResult' : request.replace(/Request$/, 'Result')
  }

  #check(definition: string, value: unknown, from: string, message: Json): void {
    const validate = definitionsOf(this.#revision).validate(definition)
    if (validate(value)) return
    const reasons = (validate.errors ?? [])
      .slice(0, 4)
      .map(({ instancePath, message: text, params }) => `${instancePath} ${text} ${JSON.stringify(params)}`)
    this.#fault(from, message, `${definition}: ${reasons.join('; ')}`)
  }

  #fault(from: string, message: Json, why: string): void {
    this.faults.push(`${from} sent ${JSON.stringify(message).slice(0, 300)}\n    ${why}`)
  }
}
