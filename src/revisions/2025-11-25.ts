/** Revision 2025-11-25: icons, URL elicitation, richer forms, tools in sampling, bad arguments shown to the model. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import type { Delta, Downgrade } from './revision.ts'
import { each, inBlocks, inContent, inOrder, objectsIn, ofType, within, without } from './shapes.ts'
import { joinTyped, splitTyped, typedField } from './typed-choices.ts'

const plainImplementation: Downgrade = without('icons', 'description', 'websiteUrl')

/** Older revisions have `{}` for forms, and nothing for URL mode. */
const formOnly: Downgrade = (capabilities) => {
  const { elicitation, ...rest } = capabilities
  if (!isObject(elicitation)) return capabilities
  return 'url' in elicitation && !('form' in elicitation) ? rest : { ...rest, elicitation: {} }
}

const plainSampling: Downgrade = within('sampling', without('context', 'tools'))

// Tool use in a conversation is shown as text to models of older revisions.
const toolUseAsText: Downgrade = ({ name, input }) => ({ type: 'text', text: `[call of tool ${asText(name)}: ${JSON.stringify(input)}]` })

const toolResultAsText: Downgrade = ({ content }) => {
  const texts = objectsIn(content).map(({ type, text }) => (type === 'text' ? text : `[${asText(type)}]`))
  return { type: 'text', text: `[result of tool call: ${texts.join('\n')}]` }
}

const withoutTools: Downgrade = inBlocks(inOrder(ofType('tool_use', toolUseAsText), ofType('tool_result', toolResultAsText)))

/** Older messages have one block each, so several blocks become several messages of the same role. */
const oneBlockEach: Downgrade = (params) => {
  if (!Array.isArray(params.messages)) return params
  const split = objectsIn(params.messages).flatMap(({ role, content }) =>
    (Array.isArray(content) ? objectsIn(content) : [content]).map((block: unknown) => ({ role, content: block })),
  )
  return { ...params, messages: split }
}

/** Older answers have one block: texts are joined, otherwise only the first block is kept. */
const oneBlock: Downgrade = (result) => {
  if (!Array.isArray(result.content)) return result
  const blocks = objectsIn(result.content)
  const [first] = blocks
  if (first && (blocks.length === 1 || blocks.some(({ type }) => type !== 'text'))) return { ...result, content: first }
  return { ...result, content: { type: 'text', text: blocks.map(({ text }) => text).join('\n') } }
}

/** In older forms, titles of choices are a parallel list, and multiple choices are typed as text with commas. */
const plainField: Downgrade = (field) => {
  const bare = field.type === 'boolean' ? field : without('default', 'pattern')(field)
  const { oneOf, items, type, minItems: _min, maxItems: _max, ...rest } = bare
  if (Array.isArray(oneOf)) {
    return {
      ...rest,
      type,
      enum: objectsIn(oneOf).map((choice) => choice.const),
      enumNames: objectsIn(oneOf).map((choice) => choice.title),
    }
  }
  if (type !== 'array') return bare
  return typedField({ ...rest, items })
}

const plainForm: Downgrade = within(
  'requestedSchema',
  inOrder(
    without('$schema'),
    within('properties', (fields) =>
      Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, isObject(field) ? plainField(field) : field])),
    ),
  ),
)

export const r20251125: Delta = {
  version: '2025-11-25',
  facts: {
    omitsUnreadableId: true,
    reportsBadArgumentsInResult: true,
    hasUrlElicitationError: true,
    hasPolledStreams: true,
    tasks: 'requested',
  },
  adds: ['notifications/elicitation/complete'],
  errorCodes: { ERR_URL_ELICITATION_REQUIRED: -32042 },
  downgrade: {
    params: {
      initialize: inOrder(
        within('clientInfo', plainImplementation),
        within('capabilities', inOrder(formOnly, plainSampling, without('tasks'))),
      ),
      'sampling/createMessage': inOrder(without('tools', 'toolChoice'), each('messages', withoutTools), oneBlockEach),
      'elicitation/create': inOrder(without('mode'), plainForm),
    },
    results: {
      initialize: within('serverInfo', plainImplementation),
      'tools/list': each('tools', without('icons')),
      'resources/list': each('resources', without('icons')),
      'resources/templates/list': each('resourceTemplates', without('icons')),
      'prompts/list': each('prompts', without('icons')),
      ...inContent(ofType('resource_link', without('icons'))),
      'sampling/createMessage': inOrder(withoutTools, oneBlock),
      'elicitation/create': joinTyped,
    },
  },
  upgrade: { results: { 'elicitation/create': splitTyped } },
}
