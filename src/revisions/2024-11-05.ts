/** 2024-11-05: the base table. Later revisions are written as what they changed. */

import type { Base } from './revision.ts'

export const r20241105: Base = {
  version: '2024-11-05',
  facts: {
    dialect: 'session',
    hasBatches: false,
    omitsUnreadableId: false,
    reportsBadArgumentsInResult: false,
    hasUrlElicitationError: false,
    completesUnannounced: true,
    hasPolledStreams: false,
  },
  adds: [
    'initialize',
    'notifications/initialized',
    'ping',
    'notifications/cancelled',
    'notifications/progress',
    'tools/list',
    'tools/call',
    'notifications/tools/list_changed',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'resources/subscribe',
    'resources/unsubscribe',
    'notifications/resources/list_changed',
    'notifications/resources/updated',
    'prompts/list',
    'prompts/get',
    'notifications/prompts/list_changed',
    'completion/complete',
    'logging/setLevel',
    'notifications/message',
    'roots/list',
    'notifications/roots/list_changed',
    'sampling/createMessage',
  ],
  errorCodes: {
    ERR_RESOURCE_NOT_FOUND: -32002,
    ERR_CAPABILITY_MISSING: -32603,
    ERR_VERSION_UNSUPPORTED: -32602,
    ERR_HEADER_MISMATCH: -32001,
    ERR_URL_ELICITATION_REQUIRED: -32603,
  },
}
