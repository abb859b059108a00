/** What the definitions of an extension for servers and for clients have in common. */

import { McpError } from '../protocol/errors.ts'
import { METHODS } from '../protocol/methods.ts'
import { checkExtensions } from '../protocol/model/extensions.ts'
import type { AnySchema, InputOf, ObjectOf } from '../protocol/schema/any-schema.ts'
import { selectRevisions } from '../revisions/index.ts'
import type { Revision } from '../revisions/revision.ts'

/** The schemas of a method. Default: any object. */
export interface MethodSchemas {
  /** The schema of the params, without `_meta`. */
  params?: AnySchema
  /** The schema of the result. Every result is checked against it. */
  result?: AnySchema
}

export type ParamsOf<P> = P extends AnySchema ? ObjectOf<P> : Record<string, unknown>
export type ResultOf<R> = R extends AnySchema ? InputOf<R> : object | void

interface Definition {
  id: string
  settings?: Record<string, unknown>
  methods?: object
  notifications?: object
  sends?: object
}

/** Throws ERR_DEFINITION for an invalid name, or a method that the protocol has. */
export function checkDefinition({ id, settings = {}, methods = {}, notifications = {}, sends = {} }: Definition): void {
  checkExtensions({ [id]: settings })
  const own = [methods, notifications, sends].flatMap(Object.keys).find((name) => METHODS.has(name))
  if (own !== undefined) throw new McpError('ERR_DEFINITION', `The extension ${id} cannot define ${own}: it is part of the protocol`)
  for (const [name, listener] of Object.entries(notifications)) checkHandler(id, name, listener)
}

/** Throws ERR_DEFINITION for a method or a notification without a handler. */
export function checkHandler(id: string, name: string, given: unknown): void {
  if (typeof (given as { handler?: unknown } | undefined)?.handler !== 'function')
    throw new McpError('ERR_DEFINITION', `The extension ${id} needs a function "handler" for ${name}`)
}

/** Whether a revision has an extension. */
export function revisionRule(revisions: readonly string[] | undefined): (revision: Revision) => boolean {
  if (revisions === undefined) return ({ hasExtensions }) => hasExtensions
  const selected = selectRevisions(revisions)
  return (revision) => selected.includes(revision)
}
