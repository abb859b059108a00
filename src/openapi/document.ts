/** Reads an OpenAPI 3.x description: its operations, with local references followed. */

import { isObject } from '../base/json.ts'
import { McpError } from '../protocol/errors.ts'

/** An OpenAPI description of version 3.0 or 3.1, as an object. */
export type OpenApiDocument = Readonly<Record<string, unknown>>

/** One operation of the API. */
export interface OpenApiOperation {
  /** In upper case, such as `GET`. */
  readonly method: string
  /** The path with its variables, such as `/pets/{petId}`. */
  readonly path: string
  readonly operationId: string | undefined
  readonly tags: readonly string[]
  readonly summary: string | undefined
  readonly description: string | undefined
  readonly isDeprecated: boolean
}

export type Value = Readonly<Record<string, unknown>>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly isRequired: boolean
  readonly description: string | undefined
  readonly schema: unknown
  readonly style: string
  readonly explode: boolean
}

/** An operation with everything that its tool needs. */
export interface ReadOperation extends OpenApiOperation {
  readonly parameters: readonly Parameter[]
  readonly body: { schema: unknown; type: string; isRequired: boolean; description: string | undefined } | undefined
  /** The alternatives: each is a set of schemes that are needed together. */
  readonly security: readonly (readonly string[])[]
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'] as const
const MAX_OPERATIONS = 2000
const MAX_REFERENCES = 100
const TRANSPORT_HEADER =
  /^(?:accept|authorization|connection|content-length|content-type|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

export const wrong = (why: string): McpError => new McpError('ERR_DEFINITION', `The OpenAPI description: ${why}`)

export class Description {
  readonly #root: OpenApiDocument

  constructor(root: unknown) {
    if (!isObject(root)) throw wrong('expected an object; parse JSON or YAML first')
    if (root.swagger !== undefined) throw wrong(`version ${String(root.swagger)} is not supported; convert it to OpenAPI 3`)
    if (typeof root.openapi !== 'string' || !/^3\.[01]\./.test(root.openapi))
      throw wrong(`expected "openapi" with version 3.0 or 3.1, got ${JSON.stringify(root.openapi)}`)
    this.#root = root
  }

  /** Whether `nullable` and other keywords have their meaning of version 3.0. */
  get isOld(): boolean {
    return String(this.#root.openapi).startsWith('3.0.')
  }

  get info(): Value {
    return isObject(this.#root.info) ? this.#root.info : {}
  }

  get servers(): readonly unknown[] {
    return Array.isArray(this.#root.servers) ? this.#root.servers : []
  }

  get securitySchemes(): Value {
    const { components } = this.#root
    return isObject(components) && isObject(components.securitySchemes) ? components.securitySchemes : {}
  }

  /** Follows references within the document. */
  follow(value: unknown): unknown {
    let current = value
    for (let i = 0; isObject(current) && typeof current.$ref === 'string'; i++) {
      if (i >= MAX_REFERENCES) throw wrong(`the reference ${current.$ref} leads to itself`)
      current = this.at(current.$ref)
    }
    return current
  }

  at(reference: string): unknown {
    if (!reference.startsWith('#/'))
      throw wrong(`only references within the document are supported, got ${reference}; bundle it into one file first`)
    let current: unknown = this.#root
    for (const step of reference.slice(2).split('/')) {
      const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
      if (!isObject(current) && !Array.isArray(current)) throw wrong(`the reference ${reference} leads nowhere`)
      if (!Object.hasOwn(current, key)) throw wrong(`the reference ${reference} leads nowhere`)
      current = (current as Record<string, unknown>)[key]
    }
    return current
  }

  /** Only the chosen operations are read: the others may have what is not supported. */
  operations(include: (operation: OpenApiOperation) => boolean): ReadOperation[] {
    const { paths } = this.#root
    if (!isObject(paths)) throw wrong('it has no "paths"')
    const found: ReadOperation[] = []
    for (const [path, item] of Object.entries(paths)) {
      const followed = this.follow(item)
      if (!path.startsWith('/') || !isObject(followed)) continue
      for (const method of METHODS) {
        const operation = followed[method]
        if (!isObject(operation)) continue
        const summary = summaryOf(path, method.toUpperCase(), operation)
        if (include(summary)) found.push(this.#read(summary, operation, followed))
      }
    }
    if (found.length > MAX_OPERATIONS)
      throw wrong(`it has ${found.length} operations; at most ${MAX_OPERATIONS} are supported. Choose some with the option "include"`)
    return found
  }

  #read(summary: OpenApiOperation, operation: Value, item: Value): ReadOperation {
    const { method, path } = summary
    const where = `${method} ${path}`
    const security = operation.security ?? this.#root.security
    const parameters = this.#parameters(where, [item.parameters, operation.parameters])
    const undeclared = [...path.matchAll(/\{([^{}]*)\}/g)].find(
      ([, name]) => !parameters.some((each) => each.in === 'path' && each.name === name),
    )
    if (undeclared) throw wrong(`${where}: the path has ${undeclared[0]}, but there is no path parameter of this name`)
    return {
      ...summary,
      parameters,
      // A request of these methods cannot have a body.
      body: method === 'GET' || method === 'HEAD' ? undefined : this.#body(where, this.follow(operation.requestBody)),
      security: Array.isArray(security) ? security.filter(isObject).map((each) => Object.keys(each)) : [],
    }
  }

  #parameters(where: string, lists: readonly unknown[]): Parameter[] {
    const byPlace = new Map<string, Parameter>()
    for (const each of lists.flatMap((list) => (Array.isArray(list) ? list : []))) {
      const given = this.follow(each)
      if (!isObject(given) || typeof given.name !== 'string') throw wrong(`${where}: a parameter has no name`)
      const { name, in: place } = given
      // Cookies belong to the user of a browser, and these headers to the transport.
      if (place === 'cookie') continue
      if (place === 'header' && TRANSPORT_HEADER.test(name)) continue
      if (place === 'header' && !HEADER_NAME.test(name)) throw wrong(`${where}: not the name of a header: ${JSON.stringify(name)}`)
      if (name === '__proto__') throw wrong(`${where}: a parameter cannot be named "__proto__"`)
      if (place !== 'path' && place !== 'query' && place !== 'header')
        throw wrong(`${where}: the parameter ${name} is in ${JSON.stringify(place)}`)
      const content = isObject(given.content) ? Object.values(given.content)[0] : undefined
      const style = textOf(given.style) ?? (place === 'query' ? 'form' : 'simple')
      byPlace.set(`${place} ${name}`, {
        name,
        in: place,
        isRequired: place === 'path' || given.required === true,
        description: textOf(given.description),
        schema: given.schema ?? (isObject(content) ? content.schema : undefined) ?? {},
        style: content === undefined ? style : 'json',
        explode: typeof given.explode === 'boolean' ? given.explode : style === 'form' || style === 'deepObject',
      })
    }
    return [...byPlace.values()]
  }

  #body(where: string, body: unknown): ReadOperation['body'] {
    if (!isObject(body) || !isObject(body.content)) return undefined
    const { content } = body
    const types = Object.keys(content)
    const type =
      types.find((each) => /^application\/(?:[\w.-]+\+)?json\b/i.test(each)) ??
      types.find((each) => /^(?:application\/x-www-form-urlencoded|text\/)/i.test(each))
    if (type === undefined)
      throw wrong(
        `${where}: only JSON, form and text bodies are supported, got ${types.join(', ') || 'none'}; leave it out with the option "include"`,
      )
    const media = content[type]
    return {
      type,
      schema: (isObject(media) ? media.schema : undefined) ?? {},
      isRequired: body.required === true,
      description: textOf(body.description),
    }
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The text of a part of a reference. Text that is not percent-encoded stays as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function summaryOf(path: string, method: string, { operationId, tags, summary, description, deprecated }: Value): OpenApiOperation {
  return {
    method,
    path,
    operationId: textOf(operationId),
    tags: Array.isArray(tags) ? tags.map(String) : [],
    summary: textOf(summary),
    description: textOf(description),
    isDeprecated: deprecated === true,
  }
}
