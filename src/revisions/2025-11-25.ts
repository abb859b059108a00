/** 2025-11-25: icons, URL elicitation, richer forms, tools in sampling, bad arguments shown to the model. */

import { isObject } from '../jsonrpc/message.ts'
import type { Delta, Fit, Json, Mend } from './revision.ts'
import { each, inContent, inOrder, ofType, within, without } from './shapes.ts'

const plainImplementation: Fit = without('icons', 'description', 'websiteUrl')

/** `{form, url}` was `{}`, which meant form; a client with URL mode only had nothing to say. */
const formOnly: Fit = (capabilities) => {
  const { elicitation, ...rest } = capabilities
  if (!isObject(elicitation)) return capabilities
  return 'url' in elicitation && !('form' in elicitation) ? rest : { ...rest, elicitation: {} }
}

const plainSampling: Fit = within('sampling', without('context', 'tools'))

/** One block a message: several blocks become several messages of the same role. */
const oneBlockEach: Fit = (params) => {
  const messages = params.messages
  if (!Array.isArray(messages)) return params
  const split = (messages as Json[]).flatMap(({ role, content }) =>
    (Array.isArray(content) ? content : [content]).map((block: unknown) => ({ role, content: block })),
  )
  return { ...params, messages: split }
}

const firstBlock: Fit = (result) =>
  Array.isArray(result.content) ? { ...result, content: result.content[0] ?? { type: 'text', text: '' } } : result

/** Titles of choices were a parallel list; several choices of one field did not exist and are typed in, comma by comma. */
const plainField: Fit = (field) => {
  const bare = field.type === 'boolean' ? field : without('default', 'pattern')(field)
  const { oneOf, items, type, minItems: _min, maxItems: _max, ...rest } = bare
  if (Array.isArray(oneOf)) {
    return {
      ...rest,
      type,
      enum: (oneOf as Json[]).map((choice) => choice.const),
      enumNames: (oneOf as Json[]).map((choice) => choice.title),
    }
  }
  if (type !== 'array') return bare
  const list = (isObject(items) ? (items.enum ?? (items.anyOf as Json[] | undefined)?.map((choice) => choice.const)) : []) as string[]
  const hint = `Any of these, separated by commas: ${list.join(', ')}`
  return { ...rest, type: 'string', description: rest.description === undefined ? hint : `${String(rest.description)} (${hint})` }
}

const plainForm: Fit = within(
  'requestedSchema',
  inOrder(
    without('$schema'),
    within('properties', (fields) =>
      Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, isObject(field) ? plainField(field) : field])),
    ),
  ),
)

const splitLists: Mend = (answer, question) => {
  const { content } = answer
  const schema = question.requestedSchema
  if (!isObject(content) || !isObject(schema) || !isObject(schema.properties)) return answer
  const mended: Json = { ...content }
  for (const [name, field] of Object.entries(schema.properties)) {
    const text = mended[name]
    if (!isObject(field) || field.type !== 'array' || typeof text !== 'string') continue
    mended[name] = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }
  return { ...answer, content: mended }
}

export const r20251125: Delta = {
  version: '2025-11-25',
  facts: { omitsUnreadableId: true, reportsBadArgumentsInResult: true, hasUrlElicitationError: true },
  adds: ['notifications/elicitation/complete'],
  errorCodes: { ERR_URL_ELICITATION_REQUIRED: -32042 },
  undo: {
    params: {
      initialize: inOrder(within('clientInfo', plainImplementation), within('capabilities', inOrder(formOnly, plainSampling))),
      'sampling/createMessage': inOrder(without('tools', 'toolChoice'), oneBlockEach),
      'elicitation/create': inOrder(without('mode'), plainForm),
    },
    results: {
      initialize: within('serverInfo', plainImplementation),
      'tools/list': each('tools', without('icons')),
      'resources/list': each('resources', without('icons')),
      'resources/templates/list': each('resourceTemplates', without('icons')),
      'prompts/list': each('prompts', without('icons')),
      ...inContent(ofType('resource_link', without('icons'))),
      'sampling/createMessage': firstBlock,
    },
  },
  redo: { results: { 'elicitation/create': splitLists } },
}
