/** The form of messages that holds in every revision: required members and their types. */

const text = { type: 'string' }
const any = {}

const object = (properties: Record<string, unknown>, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})
const list = (items: unknown) => ({ type: 'array', items })

const block = {
  type: 'object',
  required: ['type'],
  properties: { type: text },
  oneOf: [
    object({ type: { const: 'text' }, text }),
    object({ type: { enum: ['image', 'audio'] }, data: text, mimeType: text }),
    object({ type: { const: 'resource' }, resource: object({ uri: text, text, blob: text }, ['uri']) }),
    object({ type: { const: 'resource_link' }, uri: text, name: text }),
    object({ type: { const: 'tool_use' }, id: text, name: text, input: { type: 'object' } }),
    object({ type: { const: 'tool_result' }, toolUseId: text }),
  ],
}
const role = { enum: ['user', 'assistant'] }
const implementation = object({ name: text, version: text })
const cursor = { nextCursor: text }
const contents = {
  type: 'object',
  required: ['uri'],
  properties: { uri: text, text, blob: text, mimeType: text },
  anyOf: [{ required: ['text'] }, { required: ['blob'] }],
}
const message = object({ role, content: { anyOf: [block, list(block)] } })

/** By method and direction. What is not listed is not checked. */
export const MESSAGE_SCHEMAS: Readonly<Record<string, unknown>> = {
  error: object({ code: { type: 'integer' }, message: text }),
  'initialize params': object({ protocolVersion: text, capabilities: { type: 'object' }, clientInfo: implementation }),
  'initialize result': object({ protocolVersion: text, capabilities: { type: 'object' }, serverInfo: implementation, instructions: text }, [
    'protocolVersion',
    'capabilities',
    'serverInfo',
  ]),
  'tools/list result': object(
    {
      tools: list(
        object({ name: text, inputSchema: object({ type: { const: 'object' } }), description: text, title: text }, ['name', 'inputSchema']),
      ),
      ...cursor,
    },
    ['tools'],
  ),
  'tools/call params': object({ name: text, arguments: { type: 'object' } }, ['name']),
  'tools/call result': object({ content: list(block), isError: { type: 'boolean' } }, ['content']),
  'prompts/list result': object(
    { prompts: list(object({ name: text, arguments: list(object({ name: text })), description: text }, ['name'])), ...cursor },
    ['prompts'],
  ),
  'prompts/get params': object({ name: text, arguments: { type: 'object', additionalProperties: text } }, ['name']),
  'prompts/get result': object({ messages: list(object({ role, content: block })), description: text }, ['messages']),
  'resources/list result': object({ resources: list(object({ uri: text, name: text, mimeType: text }, ['uri', 'name'])), ...cursor }, [
    'resources',
  ]),
  'resources/templates/list result': object(
    { resourceTemplates: list(object({ uriTemplate: text, name: text }, ['uriTemplate', 'name'])), ...cursor },
    ['resourceTemplates'],
  ),
  'resources/read params': object({ uri: text }),
  'resources/read result': object({ contents: list(contents) }),
  'completion/complete result': object({
    completion: object({ values: { ...list(text), maxItems: 100 }, total: { type: 'integer' }, hasMore: { type: 'boolean' } }, ['values']),
  }),
  'roots/list result': object({ roots: list(object({ uri: { type: 'string', pattern: '^file://' }, name: text }, ['uri'])) }),
  'sampling/createMessage params': object({ messages: list(message), maxTokens: { type: 'integer' } }),
  'sampling/createMessage result': object({ role, content: { anyOf: [block, list(block)] }, model: text }),
  'elicitation/create params': object({ message: text }),
  'elicitation/create result': object({ action: { enum: ['accept', 'decline', 'cancel'] }, content: { type: 'object' } }, ['action']),
  'notifications/progress params': object(
    { progressToken: { type: ['string', 'integer'] }, progress: { type: 'number' }, total: { type: 'number' }, message: text },
    ['progressToken', 'progress'],
  ),
  'notifications/message params': object({ level: text, data: any, logger: text }, ['level', 'data']),
  'notifications/resources/updated params': object({ uri: text }),
}
