/** Revision 2026-07-28: no handshake, no sessions and no server requests. Questions are in answers, change notices on one stream. */

import { isObject } from '../base/json.ts'
import { APPS } from '../protocol/model/apps.ts'
import type { Delta, Downgrade } from './revision.ts'
import { each, inBlocks, inOrder, ofType, within, without } from './shapes.ts'

const whole: Downgrade = without('resultType')
const uncached: Downgrade = without('resultType', 'ttlMs', 'cacheScope')
const firstRound: Downgrade = without('inputResponses', 'requestState')

// In older revisions structured output and its schema must be objects.
const objectOutput: Downgrade = (tool) =>
  isObject(tool.outputSchema) && tool.outputSchema.type !== 'object' ? without('outputSchema')(tool) : tool

const objectContent: Downgrade = (result) =>
  'structuredContent' in result && !isObject(result.structuredContent) ? without('structuredContent')(result) : result

// In older revisions the schema of a property must be an object. Clients reject a whole list because of one `true`.
const objectProperties: Downgrade = within('properties', (properties) => {
  if (!Object.values(properties).some((schema) => typeof schema === 'boolean')) return properties
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, schema === true ? {} : schema === false ? { not: {} } : schema]),
  )
})

const plainTool: Downgrade = inOrder(objectOutput, within('inputSchema', objectProperties), within('outputSchema', objectProperties))

const plainToolResult: Downgrade = inBlocks(ofType('tool_result', objectContent))

/** Of all extensions, only apps are declared in sessions: they are older than the revision that has extensions. */
const sessionExtensions: Downgrade = (capabilities) => {
  const { extensions, ...rest } = capabilities
  const apps = isObject(extensions) && Object.hasOwn(extensions, APPS) ? extensions[APPS] : undefined
  return apps === undefined ? rest : { ...rest, extensions: { [APPS]: apps } }
}

export const r20260728: Delta = {
  version: '2026-07-28',
  facts: {
    dialect: 'stateless',
    hasUrlElicitationError: false,
    hasCaching: true,
    hasPolledStreams: false,
    hasExtensions: true,
    tasks: 'extension',
  },
  adds: ['server/discover', 'subscriptions/listen', 'notifications/subscriptions/acknowledged'],
  removes: [
    'initialize',
    'notifications/initialized',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'notifications/roots/list_changed',
    'notifications/elicitation/complete',
  ],
  errorCodes: {
    ERR_RESOURCE_NOT_FOUND: -32602,
    ERR_CAPABILITY_MISSING: -32021,
    ERR_VERSION_UNSUPPORTED: -32022,
    ERR_HEADER_MISMATCH: -32020,
    ERR_URL_ELICITATION_REQUIRED: -32603,
  },
  downgrade: {
    params: {
      initialize: within('capabilities', sessionExtensions),
      'tools/call': firstRound,
      'resources/read': firstRound,
      'prompts/get': firstRound,
      'sampling/createMessage': inOrder(each('messages', plainToolResult), each('tools', plainTool)),
    },
    results: {
      initialize: within('capabilities', without('extensions')),
      'tools/list': inOrder(uncached, each('tools', plainTool)),
      'tools/call': inOrder(whole, objectContent),
      'resources/list': uncached,
      'resources/templates/list': uncached,
      'resources/read': uncached,
      'prompts/list': uncached,
      'prompts/get': whole,
      'completion/complete': whole,
      'sampling/createMessage': plainToolResult,
    },
  },
}
