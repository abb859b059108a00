/** Revision 2025-06-18: no batches; elicitation, structured output, resource links, titles, completion context. */

import { asText } from '../base/as-text.ts'
import { isObject } from '../base/json.ts'
import type { Delta, Downgrade } from './revision.ts'
import { each, inOrder, ofType, within, without } from './shapes.ts'

const undated: Downgrade = within('annotations', without('lastModified'))

// Before there were titles, people read the name of a resource.
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
      // Structured output stays: the older schemas allow unknown members, clients ignore them, and a bridge may name an
      // old revision for a newer client.
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
