/** 2025-06-18: no more batches; elicitation, structured output, resource links, titles, completion context. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import type { Delta, Downgrade } from './revision.ts'
import { each, inOrder, ofType, within, without } from './shapes.ts'

const undated: Downgrade = within('annotations', without('lastModified'))

// Before titles, the name of a resource was what people read.
const titleAsName: Downgrade = (item) => (typeof item.title === 'string' ? { ...item, name: item.title } : item)

const plainResource: Downgrade = inOrder(titleAsName, without('title', '_meta'), undated)

const linkAsText: Downgrade = (link) => ({
  type: 'text',
  text: `${asText(link.title ?? link.name)}: ${asText(link.uri)}${link.description === undefined ? '' : ` (${asText(link.description)})`}`,
  ...(isObject(link.annotations) ? { annotations: link.annotations } : {}),
})

const plainBlock: Downgrade = inOrder(
  ofType('resource_link', linkAsText),
  ofType('resource', within('resource', without('_meta'))),
  without('_meta'),
  undated,
)

export const r20250618: Delta = {
  version: '2025-06-18',
  facts: { hasBatches: false },
  adds: ['elicitation/create'],
  downgrade: {
    params: {
      initialize: inOrder(within('capabilities', without('elicitation')), within('clientInfo', without('title'))),
      'completion/complete': inOrder(without('context'), within('ref', without('title'))),
      'sampling/createMessage': each('messages', within('content', plainBlock)),
    },
    results: {
      initialize: within('serverInfo', without('title')),
      // Structured output stays: the older schemas allow members they do not know, every known client ignores those it
      // does not use, and a bridge may name an old revision for a client that is newer.
      'tools/list': each('tools', without('title', '_meta')),
      'tools/call': each('content', plainBlock),
      'resources/list': each('resources', plainResource),
      'resources/templates/list': each('resourceTemplates', plainResource),
      'resources/read': each('contents', without('_meta')),
      'prompts/list': each('prompts', inOrder(without('title', '_meta'), each('arguments', without('title')))),
      'prompts/get': each('messages', within('content', plainBlock)),
      'sampling/createMessage': within('content', plainBlock),
      'roots/list': each('roots', without('_meta')),
    },
  },
}
