/** One message of every kind with everything in it that the neutral model has, frozen. */

type Json = Record<string, unknown>

export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) deepFreeze(each)
  return Object.freeze(value)
}

const META = { 'com.example/x': 1 }
const ICONS = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }]
const ANNOTATIONS = { audience: ['user', 'assistant'], priority: 0.5, lastModified: '2025-01-12T15:00:58Z' }

export const IMPLEMENTATION = {
  name: 'rich',
  version: '1.0.0',
  title: 'Rich',
  description: 'Has everything',
  websiteUrl: 'https://example.com',
  icons: ICONS,
}

export const RESOURCE = {
  uri: 'x://1',
  name: 'one',
  title: 'The One',
  description: 'First',
  mimeType: 'text/plain',
  size: 3,
  annotations: ANNOTATIONS,
  icons: ICONS,
  _meta: META,
}

export const TEXT = { type: 'text', text: 'hi', annotations: ANNOTATIONS, _meta: META }
export const IMAGE = { type: 'image', data: 'AAAA', mimeType: 'image/png', annotations: ANNOTATIONS, _meta: META }
export const AUDIO = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations: ANNOTATIONS, _meta: META }
export const LINK = { type: 'resource_link', ...RESOURCE }
const TEXT_CONTENTS = { uri: 'x://1', mimeType: 'text/plain', text: 'one', _meta: META }
const BLOB_CONTENTS = { uri: 'x://2', mimeType: 'image/png', blob: 'AAAA', _meta: META }
export const EMBEDDED = { type: 'resource', resource: TEXT_CONTENTS, annotations: ANNOTATIONS, _meta: META }
const BLOCKS = [TEXT, IMAGE, AUDIO, LINK, EMBEDDED]

export const TOOL = {
  name: 'add',
  title: 'Add',
  description: 'Adds',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, any: true, none: false }, required: ['a'] },
  outputSchema: { type: 'object', properties: { sum: { type: 'number' }, any: true }, required: ['sum'] },
  annotations: { title: 'Adder', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  icons: ICONS,
  _meta: META,
}

export const TOOL_USE = { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 }, _meta: META }
export const TOOL_RESULT = {
  type: 'tool_result',
  toolUseId: 't1',
  content: [TEXT, IMAGE],
  structuredContent: [1],
  isError: false,
  _meta: META,
}

export const FORM = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    text: { type: 'string', title: 'Text', description: 'A text', minLength: 1, maxLength: 9, format: 'email', default: 'a@b' },
    number: { type: 'number', title: 'Number', minimum: 0, maximum: 9, default: 1 },
    integer: { type: 'integer', description: 'Whole', default: 2 },
    sure: { type: 'boolean', title: 'Sure', default: true },
    color: {
      type: 'string',
      title: 'Color',
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' },
      ],
      default: 'r',
    },
    plain: { type: 'string', enum: ['a', 'b'], default: 'a' },
    named: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
    many: { type: 'array', title: 'Many', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, maxItems: 2, default: ['a'] },
    titled: { type: 'array', description: 'Pick', items: { anyOf: [{ const: 'x', title: 'The X' }] }, minItems: 0, maxItems: 1 },
  },
  required: ['text', 'many'],
}

const ROUND = { inputResponses: { q: { action: 'accept', content: { a: 1 } } }, requestState: 'sealed' }
const CACHED = { resultType: 'complete', ttlMs: 1000, cacheScope: 'private' }

const MESSAGES = [
  { role: 'user', content: TEXT, _meta: META },
  { role: 'assistant', content: [TEXT, TOOL_USE] },
  { role: 'user', content: [TOOL_RESULT, AUDIO] },
  { role: 'user', content: TOOL_RESULT },
  { role: 'assistant', content: TOOL_USE },
  { role: 'user', content: IMAGE },
]

/** Parameters by method: requests of both sides and notifications. */
export const PARAMS: Readonly<Record<string, Json>> = deepFreeze({
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: {
      experimental: { 'x/y': {} },
      extensions: { 'com.example/e': {} },
      roots: { listChanged: true },
      sampling: { context: {}, tools: {} },
      elicitation: { form: {}, url: {} },
    },
    clientInfo: IMPLEMENTATION,
  },
  'notifications/initialized': {},
  ping: {},
  'server/discover': {},
  'completion/complete': {
    ref: { type: 'ref/prompt', name: 'p', title: 'The P' },
    argument: { name: 'a', value: 'x' },
    context: { arguments: { b: 'y' } },
  },
  'logging/setLevel': { level: 'warning' },
  'notifications/message': { level: 'error', logger: 'db', data: { any: ['thing'] } },
  'prompts/list': { cursor: 'c' },
  'prompts/get': { name: 'p', arguments: { a: 'x' }, ...ROUND },
  'notifications/prompts/list_changed': {},
  'resources/list': { cursor: 'c' },
  'resources/templates/list': { cursor: 'c' },
  'resources/read': { uri: 'x://1', ...ROUND },
  'resources/subscribe': { uri: 'x://1' },
  'resources/unsubscribe': { uri: 'x://1' },
  'notifications/resources/list_changed': {},
  'notifications/resources/updated': { uri: 'x://1' },
  'tools/list': { cursor: 'c' },
  'tools/call': { name: 'add', arguments: { a: 1 }, ...ROUND },
  'notifications/tools/list_changed': {},
  'roots/list': {},
  'notifications/roots/list_changed': {},
  'sampling/createMessage': {
    messages: MESSAGES,
    maxTokens: 100,
    modelPreferences: { hints: [{ name: 'sonnet' }], costPriority: 0.1, speedPriority: 0.2, intelligencePriority: 0.3 },
    systemPrompt: 'Be brief',
    includeContext: 'none',
    temperature: 0.5,
    stopSequences: ['.'],
    metadata: { any: 'thing' },
    tools: [TOOL, { ...TOOL, outputSchema: { type: 'array', items: { type: 'string' } } }],
    toolChoice: { mode: 'auto' },
  },
  'elicitation/create': { mode: 'form', message: 'Please', requestedSchema: FORM },
  'notifications/elicitation/complete': { elicitationId: 'e1' },
  'notifications/progress': { progressToken: 't', progress: 0.5, total: 1, message: 'Half' },
  'notifications/cancelled': { requestId: 1, reason: 'Enough' },
  'subscriptions/listen': {
    notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ['x://1'] },
  },
  'notifications/subscriptions/acknowledged': { notifications: { toolsListChanged: true } },
})

const SERVER_CAPABILITIES = {
  experimental: { 'x/y': {} },
  extensions: { 'com.example/e': {} },
  logging: {},
  completions: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  tools: { listChanged: true },
}

/** Results by the method they answer. */
export const RESULTS: Readonly<Record<string, Json>> = deepFreeze({
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: SERVER_CAPABILITIES,
    serverInfo: IMPLEMENTATION,
    instructions: 'Use it well',
    _meta: META,
  },
  'server/discover': {
    ...CACHED,
    supportedVersions: ['2026-07-28'],
    capabilities: SERVER_CAPABILITIES,
    instructions: 'Use it well',
    _meta: META,
  },
  'completion/complete': { resultType: 'complete', completion: { values: ['a'], total: 150, hasMore: true }, _meta: META },
  'prompts/list': {
    ...CACHED,
    prompts: [
      {
        name: 'p',
        title: 'The P',
        description: 'Prompts',
        arguments: [{ name: 'a', title: 'The A', description: 'First', required: true }],
        icons: ICONS,
        _meta: META,
      },
    ],
    nextCursor: 'n',
    _meta: META,
  },
  'prompts/get': {
    resultType: 'complete',
    description: 'Got',
    messages: [...BLOCKS.map((content) => ({ role: 'user', content })), { role: 'assistant', content: TEXT }],
    _meta: META,
  },
  'resources/list': { ...CACHED, resources: [RESOURCE, { uri: 'x://2', name: 'two' }], nextCursor: 'n', _meta: META },
  'resources/templates/list': {
    ...CACHED,
    resourceTemplates: [
      {
        uriTemplate: 'x://{id}',
        name: 'any',
        title: 'Any One',
        description: 'Any',
        mimeType: 'text/plain',
        annotations: ANNOTATIONS,
        icons: ICONS,
        _meta: META,
      },
    ],
    nextCursor: 'n',
    _meta: META,
  },
  'resources/read': { ...CACHED, contents: [TEXT_CONTENTS, BLOB_CONTENTS], _meta: META },
  'tools/list': {
    ...CACHED,
    tools: [TOOL, { name: 'list', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } }],
    nextCursor: 'n',
    _meta: META,
  },
  'tools/call': { resultType: 'complete', content: BLOCKS, structuredContent: { sum: 2 }, isError: false, _meta: META },
  'roots/list': { roots: [{ uri: 'file:///a', name: 'A', _meta: META }] },
  'sampling/createMessage': { role: 'assistant', content: [TEXT, TOOL_USE], model: 'm', stopReason: 'toolUse', _meta: META },
  'elicitation/create': { action: 'accept', content: { text: 'a@b', number: 1.5, sure: true, many: ['a'] } },
})
