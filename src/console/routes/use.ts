/** Routes that use servers: call, read, get, complete, subscribe; and the operations that result. */

import type { Conversation, Host, ToolEntry } from '../../host/index.ts'
import type { NameOf } from '../api.ts'
import { BY_PERSON, type ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'

const TEXT = { type: 'string' }

/** A unique name, or a server and its own name. */
export const NAME = {
  type: ['string', 'object'],
  properties: { server: TEXT, name: TEXT },
  required: ['server', 'name'],
  additionalProperties: false,
}

/** Chosen by the page, so that it knows the id before the first event. */
export const OPERATION_ID = { type: 'string', minLength: 8, maxLength: 64 }

const COMPLETE = input({
  server: TEXT,
  ref: { type: 'object', properties: { type: { enum: ['ref/prompt', 'ref/resource'] }, name: TEXT, uri: TEXT }, required: ['type'] },
  argument: { type: 'object', properties: { name: TEXT, value: TEXT }, required: ['name', 'value'], additionalProperties: false },
  'context?': { type: 'object', properties: { arguments: { type: 'object', additionalProperties: TEXT } }, additionalProperties: false },
})

export function useRoutes({ host, operations, conversations, byHand, subscriptions, events }: ConsoleServices): Route[] {
  /** Without an id the person acts by hand, and what a model or an earlier call read elsewhere does not concern it. */
  const within = async (id: string | undefined): Promise<Conversation> =>
    id === undefined ? byHand.emptied() : await conversations.get(id)

  return [
    route(
      'POST /api/tools/call',
      {
        body: input({
          tool: NAME,
          'args?': { type: 'object' },
          'id?': OPERATION_ID,
          'conversation?': TEXT,
          'timeoutMs?': { type: 'integer', minimum: 1 },
        }),
        status: 202,
      },
      async ({ body: { tool, args = {}, id, conversation, timeoutMs } }) => {
        const options = { ...BY_PERSON, conversation: await within(conversation), ...(timeoutMs !== undefined && { timeoutMs }) }
        return {
          operation: operations.start({
            kind: 'call',
            target: tool,
            server: serverOf(tool, host.tools()),
            id,
            run: ({ signal, onProgress }) => host.call(tool, args, { ...options, signal, onProgress }),
          }),
        }
      },
    ),
    route(
      'POST /api/resources/read',
      { body: input({ uri: TEXT, 'id?': OPERATION_ID, 'conversation?': TEXT }), status: 202 },
      async ({ body: { uri, id, conversation } }) => {
        const options = { ...BY_PERSON, conversation: await within(conversation) }
        return {
          operation: operations.start({
            kind: 'read',
            target: uri,
            server: ownerOf(host, uri),
            id,
            run: ({ signal }) => host.read(uri, { ...options, signal }),
          }),
        }
      },
    ),
    route(
      'POST /api/prompts/get',
      {
        body: input({ prompt: NAME, 'args?': { type: 'object', additionalProperties: TEXT }, 'id?': OPERATION_ID, 'conversation?': TEXT }),
        status: 202,
      },
      async ({ body: { prompt, args = {}, id, conversation } }) => {
        const options = { ...BY_PERSON, conversation: await within(conversation) }
        return {
          operation: operations.start({
            kind: 'prompt',
            target: prompt,
            server: serverOf(prompt, host.prompts()),
            id,
            run: ({ signal }) => host.prompt(prompt, args, { ...options, signal }),
          }),
        }
      },
    ),
    route('POST /api/complete', { body: COMPLETE }, async ({ body: { server, ...params }, signal }) => ({
      completion: await host.complete(server, params, { ...BY_PERSON, conversation: byHand.emptied(), signal }),
    })),
    route('GET /api/subscriptions', {}, () => ({ subscriptions: subscriptions.list() })),
    route('POST /api/subscriptions', { body: input({ uri: TEXT, 'id?': OPERATION_ID }), status: 202 }, ({ body: { uri, id } }) => {
      subscriptions.checkRoom()
      return {
        operation: operations.start({
          kind: 'subscribe',
          target: uri,
          server: ownerOf(host, uri),
          id,
          run: ({ signal }) =>
            subscriptions.add(uri, (view) =>
              host.watch(uri, () => events.publish('resource', view), { ...BY_PERSON, conversation: byHand.emptied(), signal }),
            ),
        }),
      }
    }),
    route('DELETE /api/subscriptions/:id', {}, ({ params: { id } }) => {
      subscriptions.remove(id)
      return null
    }),
    route('GET /api/operations', {}, () => ({ operations: operations.list() })),
    route('GET /api/operations/:id', {}, ({ params: { id } }) => ({ operation: operations.get(id) })),
    route('DELETE /api/operations/:id', {}, ({ params: { id } }) => {
      operations.cancel(id)
      return null
    }),
  ]
}

type Entry = Pick<ToolEntry, 'exposed' | 'server'>

/** A name such as `a__b__c` does not tell which part of it is the server. The host knows. */
const serverOf = (name: NameOf, entries: readonly Entry[]): string | undefined =>
  typeof name === 'string' ? entries.find(({ exposed }) => exposed === name)?.server : name.server

/** Undefined if several servers have the address, or if it is not in a list: of a template, for example. */
function ownerOf(host: Host, uri: string): string | undefined {
  const owners = new Set(
    host.resources().flatMap(({ exposed, server, definition }) => (exposed === uri || definition.uri === uri ? [server] : [])),
  )
  return owners.size === 1 ? [...owners][0] : undefined
}
