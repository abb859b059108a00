/** Revision 2025-03-26: batches, audio, tool annotations, progress messages, the completions capability. */

import { asText } from '../base/as-text.ts'
import type { Delta, Downgrade } from './revision.ts'
import { each, inContent, ofType, within, without } from './shapes.ts'

// Older peers do not have audio blocks, so the bytes travel in an embedded resource.
const audioAsResource: Downgrade = ({ data, mimeType, annotations }) => ({
  type: 'resource',
  resource: { uri: 'urn:portico:audio', mimeType, blob: data },
  ...(annotations === undefined ? {} : { annotations }),
})

const audioAsNote: Downgrade = ({ mimeType }) => ({
  type: 'text',
  text: `[audio of type ${asText(mimeType)} omitted: this protocol revision has no audio]`,
})

const { 'tools/call': toolContent, 'prompts/get': promptContent } = inContent(ofType('audio', audioAsResource))

export const r20250326: Delta = {
  version: '2025-03-26',
  facts: { hasBatches: true, completesUnannounced: false },
  downgrade: {
    params: {
      'notifications/progress': without('message'),
      'sampling/createMessage': each('messages', within('content', ofType('audio', audioAsNote))),
    },
    results: {
      initialize: within('capabilities', without('completions')),
      'tools/list': each('tools', without('annotations')),
      'tools/call': toolContent as Downgrade,
      'prompts/get': promptContent as Downgrade,
      'sampling/createMessage': within('content', ofType('audio', audioAsNote)),
    },
  },
}
