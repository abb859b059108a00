/** Routes for the views of tools. */

import type { ConsoleServices } from '../services.ts'
import { input, type Route, route } from '../web/router.ts'
import { NAME } from './use.ts'

const THEME = { enum: ['light', 'dark'] }

const NEW_APP = input({
  tool: NAME,
  'args?': { type: 'object' },
  'result?': { type: 'object', properties: { content: { type: 'array' } }, required: ['content'] },
  'conversation?': { type: 'string' },
  'allowsAddresses?': { type: 'boolean' },
  'theme?': THEME,
})

/** Messages of a view in one request. */
const MAX_MESSAGES = 500

export const appRoutes = ({ apps, byHand, conversations }: ConsoleServices): Route[] => [
  route('POST /api/apps', { body: NEW_APP }, async ({ body: { conversation, ...given }, signal }) => ({
    app: await apps.open(
      given,
      conversation === undefined ? byHand.emptied() : await conversations.get(conversation),
      conversation !== undefined,
      signal,
    ),
  })),
  route(
    'POST /api/apps/:id/messages',
    { body: input({ messages: { type: 'array', items: { type: 'object' }, maxItems: MAX_MESSAGES } }) },
    ({ params: { id }, body: { messages } }) => {
      apps.receive(id, messages)
      return null
    },
  ),
  route('GET /api/apps/:id/messages', { query: input({ 'after?': { type: 'integer', minimum: 0 } }) }, ({ params: { id }, query }) => ({
    messages: apps.messages(id, query.after ?? 0),
  })),
  route('PATCH /api/apps/:id', { body: input({ theme: THEME }) }, ({ params: { id }, body }) => {
    apps.change(id, body)
    return null
  }),
  route('DELETE /api/apps/:id', {}, async ({ params: { id } }) => {
    await apps.close(id)
    return null
  }),
]
