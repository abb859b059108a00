/** A server with every feature of the protocol, for testing clients. */

import type { TaskStore } from '../protocol/interfaces/task-store.ts'
import {
  audio,
  createServer,
  embed,
  form,
  image,
  type JsonSchema,
  link,
  McpError,
  pageRequired,
  rootList,
  type SamplingMessage,
  type Server,
  type ServerOptions,
  sampling,
  type Tool,
  ToolError,
  text,
} from '../server/index.ts'
import { addTaskTools, extendWithTasks, object } from './everything-tasks.ts'

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
/** Silence. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(signal.reason as Error)
      },
      { once: true },
    )
  })

const optional = <const P extends Record<string, JsonSchema>>(properties: P): { type: 'object'; properties: P; required: never[] } => ({
  type: 'object',
  properties,
  required: [],
})
const string = { type: 'string' } as const

/**
 * A server with every feature of the protocol, to test clients.
 *
 * @example
 * const { client } = await pair(everythingServer())
 * const { content } = await client.call('echo', { text: 'Hello' })
 *
 * @param more.taskStore keeps the tasks. Replicas share one. Default: the memory of this process
 */
export function everythingServer(options: Partial<ServerOptions> = {}, more: { taskStore?: TaskStore } = {}): Server {
  const server = createServer({
    name: 'everything',
    version: '1.0.0',
    title: 'Everything',
    instructions: 'Every tool, resource and prompt here exists to test a client.',
    ...options,
  })
  extendWithTasks(server, more.taskStore)
  addPlainTools(server)
  addAskingTools(server)
  addRoundTools(server)
  addChangeTools(server)
  addTaskTools(server)
  addResources(server)
  addPrompts(server)
  return server
}

function addPlainTools(server: Server): void {
  // First in the list, because some clients call the first tool without arguments.
  server.tool(
    'test_x_mcp_header',
    { description: 'Mirrors its region into a header', input: optional({ region: { type: 'string', 'x-mcp-header': 'Region' } }) },
    ({ region }) => `Region: ${region ?? 'none'}`,
  )
  server.tool('test_simple_text', { description: 'Returns text' }, () => 'This is a simple text response for testing.')
  server.tool('test_image_content', { description: 'Returns an image' }, () => image(PNG, 'image/png'))
  server.tool('test_audio_content', { description: 'Returns audio' }, () => audio(WAV, 'audio/wav'))
  server.tool('test_embedded_resource', { description: 'Returns an embedded resource' }, () =>
    embed('test://embedded-resource', 'This is an embedded resource content.', 'text/plain'),
  )
  server.tool('test_multiple_content_types', { description: 'Returns several kinds of content' }, () => [
    text('Multiple content types test:'),
    image(PNG, 'image/png'),
    embed('test://mixed-content-resource', JSON.stringify({ test: 'data', value: 123 }), 'application/json'),
  ])
  server.tool('test_resource_link', { description: 'Returns a link to a resource' }, () =>
    link({ uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' }),
  )
  server.tool('test_error_handling', { description: 'Always fails' }, () => {
    throw new ToolError('This tool intentionally returns an error for testing')
  })
  server.tool('test_tool_with_logging', { description: 'Logs three messages' }, async (_args, ctx) => {
    for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      if (message !== 'Tool execution started') await sleep(50, ctx.signal)
      ctx.log.info(message)
    }
    return 'Logged three messages'
  })
  server.tool('test_logging_tool', { description: 'Logs if the request asks for it' }, (_args, ctx) => {
    ctx.log.warning('A log message')
    return 'Logged'
  })
  server.tool('test_tool_with_progress', { description: 'Reports progress' }, async (_args, ctx) => {
    for (const done of [0, 50, 100]) {
      if (done > 0) await sleep(50, ctx.signal)
      await ctx.progress(done, 100, `Completed step ${done} of 100`)
    }
    return 'Progress complete'
  })
  server.tool('test_reconnection', { description: 'Closes its stream; the client reconnects for the answer' }, async (_args, ctx) => {
    ctx.release()
    await sleep(100, ctx.signal)
    return 'Reconnection test completed'
  })
  server.tool('echo', { description: 'Returns what it is given', input: object({ text: string }) }, ({ text: said }) => said)
  server.tool(
    'add',
    {
      description: 'Adds two numbers',
      input: object({ a: { type: 'number' }, b: { type: 'number' } }),
      output: object({ sum: { type: 'number' } }),
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    ({ a, b }) => ({ sum: a + b }),
  )
  server.tool(
    'wait',
    { description: 'Waits, and can be cancelled', input: object({ ms: { type: 'integer', minimum: 0, maximum: 600_000 } }) },
    async ({ ms }, ctx) => {
      await sleep(ms, ctx.signal)
      return `Waited ${ms} ms`
    },
  )
  server.tool('json_schema_2020_12_tool', { description: 'Has a schema with many keywords', input: RICH_SCHEMA }, (args) =>
    JSON.stringify(args),
  )
}

const RICH_SCHEMA: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  // `then` is a JSON Schema keyword here; the schema is never awaited.
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

function addAskingTools(server: Server): void {
  server.tool('test_sampling', { description: 'Asks the model', input: object({ prompt: string }) }, async ({ prompt }, ctx) => {
    const answer = await ctx.sample('message', { messages: [{ role: 'user', content: text(prompt) }], maxTokens: 100 })
    const [first] = Array.isArray(answer.content) ? answer.content : [answer.content]
    return `LLM response: ${first?.type === 'text' ? first.text : JSON.stringify(first)}`
  })
  server.tool('test_sampling_with_tools', { description: 'Asks the model, which may use a tool of this server' }, async (_args, ctx) => {
    const lookUp: Tool = { name: 'look_up', description: 'Looks a word up', inputSchema: object({ word: string }) }
    const question: SamplingMessage = { role: 'user', content: text('What does "portico" mean? Look it up.') }
    const first = await ctx.sample('first', { messages: [question], maxTokens: 100, tools: [lookUp], toolChoice: { mode: 'auto' } })
    const blocks = Array.isArray(first.content) ? first.content : [first.content]
    const results = blocks.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, toolUseId: block.id, content: [text('A roof on columns')] }] : [],
    )
    if (results.length === 0) return `The model ${first.model} used no tool`
    const messages: SamplingMessage[] = [question, { role: 'assistant', content: blocks }, { role: 'user', content: results }]
    const second = await ctx.sample('second', { messages, maxTokens: 100, tools: [lookUp] })
    return `The model ${second.model} used a tool ${results.length} times`
  })
  server.tool('test_missing_capability', { description: 'Needs sampling' }, async (_args, ctx) => {
    await ctx.sample('message', { messages: [{ role: 'user', content: text('Hello') }], maxTokens: 10 })
    return 'Sampled'
  })
  server.tool('test_streaming_elicitation', { description: 'Succeeds without asking' }, () => 'Nothing was asked')
  server.tool('test_elicitation', { description: 'Asks the person', input: object({ message: string }) }, async ({ message }, ctx) => {
    const { answer } = await ctx.ask({ answer: form(message, object({ username: string, email: string })) })
    return `User response: action=${answer.action}, content=${JSON.stringify('content' in answer ? answer.content : {})}`
  })
  server.tool('test_elicitation_sep1034_defaults', { description: 'Asks with defaults' }, async (_args, ctx) => {
    const fields: Record<string, JsonSchema> = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }
    const { answer } = await ctx.ask({ answer: form('Please review these values', optional(fields)) })
    return `Elicitation completed: ${JSON.stringify(answer)}`
  })
  server.tool('test_elicitation_sep1330_enums', { description: 'Asks for choices of every form' }, async (_args, ctx) => {
    const titled = [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Value ${n}` }))
    const fields: Record<string, JsonSchema> = {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    }
    const { answer } = await ctx.ask({ answer: form('Please choose', optional(fields)) })
    return `Elicitation completed: ${JSON.stringify(answer)}`
  })
  server.tool(
    'test_url_elicitation',
    { description: 'Sends the person to a page', input: object({ url: string }) },
    async ({ url }, ctx) => {
      await ctx.elicitUrl('page', 'Please visit this page', url)
      return 'The person agreed'
    },
  )
  const visited = new Set<string>()
  server.tool('test_url_required', { description: 'Fails until a page was visited', input: object({ url: string }) }, ({ url }) => {
    if (visited.has(url)) return 'The page was visited'
    visited.add(url)
    throw pageRequired('Please visit this page first', url, `page-${visited.size}`)
  })
  server.tool(
    'complete_page',
    { description: 'Says that a page was visited', input: object({ elicitationId: string }) },
    ({ elicitationId }) => String(server.completeElicitation(elicitationId)),
  )
  server.tool('test_roots', { description: 'Lists the roots' }, async (_args, ctx) => ({ roots: await ctx.roots() }))
}

/** Tools with several rounds. The official conformance suite calls them by these names. */
function addRoundTools(server: Server): void {
  const name = object({ name: string })
  const hello = sampling({ messages: [{ role: 'user', content: text('Say hello') }], maxTokens: 100 })
  const prefix = 'test_input_required_result'
  server.tool(`${prefix}_elicitation`, { description: 'Asks for a name' }, async (_args, ctx) => {
    const answer = await ctx.elicit('user_name', 'What is your name?', name)
    return `Hello, ${answer.name}!`
  })
  server.tool(`${prefix}_sampling`, { description: 'Asks the model' }, async (_args, ctx) => {
    const { message } = await ctx.ask({ message: hello })
    return `The model ${message.model} answered`
  })
  server.tool(`${prefix}_list_roots`, { description: 'Asks for roots' }, async (_args, ctx) => {
    const { roots } = await ctx.ask({ roots: rootList() })
    return `${roots.roots.length} roots`
  })
  server.tool(`${prefix}_request_state`, { description: 'Carries state from round to round' }, async (_args, ctx) => {
    const token = await ctx.once('token', () => 'state-ok')
    await ctx.elicit('confirm', 'Continue?', optional({ confirm: { type: 'boolean' } }))
    return token
  })
  server.tool(`${prefix}_multiple_inputs`, { description: 'Asks three things at once' }, async (_args, ctx) => {
    const answers = await ctx.ask({ user_name: form('What is your name?', name), greeting: hello, roots: rootList() })
    return JSON.stringify(Object.keys(answers))
  })
  server.tool(`${prefix}_multi_round`, { description: 'Asks twice' }, async (_args, ctx) => {
    const first = await ctx.elicit('step1', 'Step 1: your name?', name)
    const second = await ctx.elicit('step2', 'Step 2: your colour?', object({ color: string }))
    return `${first.name} likes ${second.color}`
  })
  server.tool(`${prefix}_tampered_state`, { description: 'Refuses altered state' }, async (_args, ctx) => {
    await ctx.elicit('confirm', 'Continue?', optional({ confirm: { type: 'boolean' } }))
    return 'The state was intact'
  })
  server.tool(`${prefix}_capabilities`, { description: 'Asks only what the client can answer' }, async (_args, ctx) => {
    const { capabilities } = ctx.caller
    if (capabilities.elicitation) await ctx.elicit('confirm', 'Continue?', optional({ confirm: { type: 'boolean' } }))
    if (capabilities.sampling) await ctx.ask({ message: hello })
    return 'Asked what could be asked'
  })
}

function addChangeTools(server: Server): void {
  let toolCount = 0
  server.tool('test_trigger_tool_change', { description: 'Changes the list of tools' }, () => {
    const extra = server.tool(`added_${++toolCount}`, { description: 'Comes and goes' }, () => 'Here')
    extra.remove()
    return 'The list of tools changed'
  })
  server.tool('test_trigger_prompt_change', { description: 'Changes the list of prompts' }, () => {
    server.prompt(`added_${++toolCount}`, { description: 'Comes and goes' }, () => 'Here').remove()
    return 'The list of prompts changed'
  })
  server.tool('test_trigger_resource_change', { description: 'Changes the list of resources' }, () => {
    const name = `added_${++toolCount}`
    server.resource(`test://${name}`, { name }, () => 'Here').remove()
    return 'The list of resources changed'
  })
  server.tool('test_trigger_resource_update', { description: 'Changes the watched resource' }, () => {
    server.resourceChanged('test://watched-resource')
    return 'The resource changed'
  })
}

function addResources(server: Server): void {
  server.resource(
    'test://static-text',
    { name: 'static-text', title: 'Static text', mimeType: 'text/plain', size: 50 },
    () => 'This is the content of the static text resource.',
  )
  server.resource('test://static-binary', { name: 'static-binary', mimeType: 'image/png' }, () => ({
    uri: 'test://static-binary',
    mimeType: 'image/png',
    blob: PNG,
  }))
  server.resource(
    'test://watched-resource',
    { name: 'watched-resource', mimeType: 'text/plain', annotations: { audience: ['user'], priority: 0.5 } },
    () => 'Watched resource content',
  )
  server.resource(
    'test://template/{id}/data',
    { name: 'template-data', mimeType: 'application/json', complete: { id: () => ['123', '124', '200'] } },
    ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
  )
  server.resource('test://failing', { name: 'failing' }, () => {
    throw new Error('something internal')
  })
  server.resource('test://private/{name}', { name: 'private' }, ({ name }) => {
    throw new McpError('ERR_RESOURCE_NOT_FOUND', 'Resource not found', { data: { uri: `test://private/${name}` } })
  })
}

function addPrompts(server: Server): void {
  server.prompt('test_simple_prompt', { description: 'A prompt without arguments' }, () => 'This is a simple prompt for testing.')
  server.prompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with two arguments',
      input: object({ arg1: { type: 'string', description: 'First argument' }, arg2: { type: 'string', description: 'Second argument' } }),
      complete: { arg1: () => ['test', 'testing', 'latest', 'other'] },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  )
  server.prompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt with a resource', input: object({ resourceUri: string }) },
    ({ resourceUri }) => [
      embed(resourceUri, 'Embedded resource content for testing.', 'text/plain'),
      text('Please process the embedded resource above.'),
    ],
  )
  server.prompt('test_prompt_with_image', { description: 'A prompt with an image' }, () => [
    image(PNG, 'image/png'),
    text('Please analyze the image above.'),
  ])
  server.prompt('test_input_required_result_prompt', { description: 'A prompt that asks first' }, async (_args, ctx) => {
    const answer = await ctx.elicit('context', 'What is the context?', object({ context: string }))
    return `Use this context: ${answer.context}`
  })
}
