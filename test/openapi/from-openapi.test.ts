/** Tools of an HTTP API that has an OpenAPI description, against a real HTTP server. */

import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { fromOpenApi, type OpenApiOptions } from '../../src/openapi/index.ts'
import { createServer } from '../../src/server/index.ts'
import { connectPair } from '../support/judged-pair.ts'

interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Pet Store', version: '2.0.0' },
  servers: [{ url: 'http://127.0.0.1:{port}/api/', variables: { port: { default: '1' } } }],
  security: [{ key: [] }],
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        summary: 'Lists pets',
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 0, exclusiveMinimum: true }, description: 'How many' },
          { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: { type: 'integer' } } },
          { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } },
          { name: 'page', in: 'query', schema: { type: 'integer' } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
        ],
      },
      post: {
        operationId: 'create pet',
        requestBody: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
      },
    },
    '/pets/{petId}': {
      parameters: [{ $ref: '#/components/parameters/PetId' }],
      get: { summary: 'Shows a pet' },
      delete: { operationId: 'removePet', security: [] },
      put: { operationId: 'old', deprecated: true },
    },
    '/login': {
      post: {
        operationId: 'login',
        security: [{ basic: [] }, { bearer: [] }],
        requestBody: {
          content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { a: { type: 'string' } } } } },
        },
      },
    },
  },
  components: {
    parameters: { PetId: { name: 'petId', in: 'path', required: true, schema: { type: 'string' } } },
    schemas: {
      Pet: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', nullable: true, example: 'Rex' },
          parent: { $ref: '#/components/schemas/Pet' },
          kind: { $ref: '#/components/schemas/Kind' },
        },
      },
      Kind: { type: 'string', enum: ['cat', 'dog'] },
    },
    securitySchemes: {
      key: { type: 'apiKey', in: 'query', name: 'api_key' },
      basic: { type: 'http', scheme: 'basic' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
  },
}

async function api(answer: (seen: Seen, response: ServerResponse) => void = (_seen, response) => response.end()) {
  const seen: Seen[] = []
  const http = createHttpServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    seen.push(one)
    answer(one, response)
  }).listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const { port } = http.address() as AddressInfo
  return { seen, base: `http://127.0.0.1:${port}/api` }
}

async function clientOf(base: string, options: Partial<OpenApiOptions> = {}) {
  const server = fromOpenApi(DOCUMENT, { baseUrl: base, credentials: { key: 's3cret', bearer: 'token' }, ...options })
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  return client
}

const json = (response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(JSON.stringify(value))
}

test('each operation is a tool with its schema, hints and description; deprecated ones are left out', async () => {
  const { base } = await api()
  const tools = await (await clientOf(base)).tools().all()
  expect(tools.map(({ name }) => name)).toEqual(['listPets', 'create_pet', 'get_pets_petId', 'removePet', 'login'])
  expect(tools[0]).toMatchObject({
    description: 'Lists pets',
    annotations: { readOnlyHint: true, openWorldHint: true },
    inputSchema: { properties: { limit: { type: 'integer', exclusiveMinimum: 0, description: 'How many' } }, additionalProperties: false },
  })
  expect(tools[1]?.inputSchema).toEqual({
    type: 'object',
    properties: { body: { $ref: '#/$defs/Pet' } },
    required: ['body'],
    additionalProperties: false,
    $defs: {
      Pet: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: ['string', 'null'] }, parent: { $ref: '#/$defs/Pet' }, kind: { $ref: '#/$defs/Kind' } },
      },
      Kind: { type: 'string', enum: ['cat', 'dog'] },
    },
  })
  expect(tools[2]).toMatchObject({ description: 'Shows a pet', inputSchema: { required: ['petId'] } })
  expect(tools[3]?.annotations).toMatchObject({ destructiveHint: true, idempotentHint: true })
})

test('arguments become path, query, headers and body, and credentials are added', async () => {
  const { seen, base } = await api((_seen, response) => json(response, { ok: true }))
  const client = await clientOf(base, { headers: { 'user-agent': 'tests' } })
  const args = { limit: 3, tags: ['a b', 'c&d'], ids: [1, 2], filter: { color: 'red' }, 'X-Trace': 'abc' }
  const listed = await client.call('listPets', args)
  expect(listed).toMatchObject({ content: [{ text: '{"ok":true}' }], structuredContent: { ok: true } })
  expect(seen[0]?.url).toBe('/api/pets?limit=3&tags=a%20b&tags=c%26d&ids=1,2&filter%5Bcolor%5D=red&api_key=s3cret')
  expect(seen[0]?.headers).toMatchObject({ 'x-trace': 'abc', 'user-agent': 'tests' })
  await client.call('create_pet', { body: { name: 'Rex', kind: 'dog' } })
  expect(seen[1]).toMatchObject({ method: 'POST', url: '/api/pets?api_key=s3cret', body: '{"name":"Rex","kind":"dog"}' })
  expect(seen[1]?.headers['content-type']).toBe('application/json')
  await client.call('get_pets_petId', { petId: 'a/../b?c#d' })
  expect(seen[2]?.url).toBe('/api/pets/a%2F..%2Fb%3Fc%23d?api_key=s3cret')
  await client.call('removePet', { petId: '7' })
  expect(seen[3]).toMatchObject({ method: 'DELETE', url: '/api/pets/7' })
  await client.call('login', { body: { a: 'x y' } })
  expect(seen[4]).toMatchObject({ body: 'a=x+y', headers: { authorization: 'Bearer token' } })
})

test('arguments that do not match, or would name another path, are refused and nothing is sent', async () => {
  const { seen, base } = await api()
  const client = await clientOf(base)
  for (const [tool, args] of [
    ['create_pet', { body: { kind: 'bird', name: 'x' } }],
    ['listPets', { limit: 0 }],
    ['listPets', { other: 1 }],
    ['get_pets_petId', { petId: '..' }],
    ['get_pets_petId', { petId: '' }],
    ['listPets', { 'X-Trace': 'a\r\nb: c' }],
  ] as const)
    expect(await client.call(tool, args)).toMatchObject({ isError: true })
  expect(seen).toEqual([])
})

test('errors of the API reach the model with status, text and waiting time, but no secrets', async () => {
  const { base } = await api((_seen, response) => response.writeHead(429, { 'retry-after': '30' }).end('Too fast'))
  const client = await clientOf(base)
  const { content, isError } = await client.call('listPets')
  expect([isError, content]).toMatchObject([true, [{ text: 'HTTP 429 Too Many Requests. Try again after 30 seconds. Too fast' }]])
  const refused = await clientOf((await api((_seen, response) => response.writeHead(401).end())).base)
  expect((await refused.call('listPets')).content).toMatchObject([
    { text: expect.stringContaining('credentials of this server were refused') },
  ])
  const gone = await clientOf('http://127.0.0.1:9')
  expect((await gone.call('listPets')).content).toMatchObject([{ text: 'The API at http://127.0.0.1:9 cannot be reached' }])
})

test('redirects are followed within the origin only, and never with a body', async () => {
  const other = await api((_seen, response) => json(response, {}))
  const { seen, base } = await api((one, response) => {
    if (one.url.startsWith('/api/pets/inside')) return response.writeHead(302, { location: '/api/pets/there' }).end()
    if (one.url.startsWith('/api/pets/there')) return json(response, { there: true })
    return response.writeHead(307, { location: `${other.base}/pets` }).end()
  })
  const client = await clientOf(base)
  expect(await client.call('get_pets_petId', { petId: 'inside' })).toMatchObject({ structuredContent: { there: true } })
  expect(await client.call('listPets')).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('redirected') }] })
  expect(await client.call('create_pet', { body: { name: 'x' } })).toMatchObject({ isError: true })
  expect([seen.length, other.seen]).toEqual([4, []])
})

test('a large response is an error that names the limit', async () => {
  const { base } = await api((_seen, response) => response.end('x'.repeat(101)))
  const client = await clientOf(base, { limits: { maxResponseBytes: 100 } })
  expect(await client.call('listPets')).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('100 bytes (maxResponseBytes)') }],
  })
})

test('texts, images, other files and empty responses become content', async () => {
  const types: Record<string, [string, string]> = {
    a: ['text/plain', 'hi'],
    b: ['image/png', 'png'],
    c: ['application/pdf', 'pdf'],
    d: ['', ''],
  }
  const { base } = await api((one, response) => {
    const [type, body] = types[one.url.replace(/^\/api\/pets\/(\w).*/, '$1')] ?? ['', '']
    response.writeHead(body === '' ? 204 : 200, type === '' ? {} : { 'content-type': type }).end(body)
  })
  const client = await clientOf(base)
  const content = async (petId: string) => (await client.call('get_pets_petId', { petId })).content
  expect(await content('a')).toEqual([{ type: 'text', text: 'hi' }])
  expect(await content('b')).toMatchObject([{ type: 'image', mimeType: 'image/png' }])
  expect(await content('c')).toMatchObject([{ type: 'resource', resource: { uri: `${base}/pets/c`, mimeType: 'application/pdf' } }])
  expect(await content('d')).toEqual([{ type: 'text', text: 'Done (HTTP 204)' }])
})

test('the next page is named by its arguments, and only if the operation has them', async () => {
  const link = (url: string) => `<${url}>; rel="next", <${url}&x=1>; rel="last"`
  const { base } = await api((one, response) =>
    json(response, {}, { link: link(one.url.includes('limit') ? '/api/pets?limit=2&page=2' : '/api/pets?cursor=abc') }),
  )
  const client = await clientOf(base)
  expect((await client.call('listPets', { limit: 2 })).content[1]).toMatchObject({ text: expect.stringContaining('and {"page":2}.') })
  expect((await client.call('listPets')).content).toHaveLength(1)
})

test('credentials may depend on the caller, and a call without them says so', async () => {
  const { seen, base } = await api((_seen, response) => json(response, {}))
  const client = await clientOf(base, { credentials: { key: () => undefined, basic: async () => 'ada:pw' } })
  expect(await client.call('listPets')).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('no credentials for "key"') }],
  })
  await client.call('login')
  expect(seen).toMatchObject([{ headers: { authorization: `Basic ${Buffer.from('ada:pw').toString('base64')}` } }])
})

test('tools can be renamed, chosen and described anew, and the server can be mounted', async () => {
  const { base } = await api((_seen, response) => json(response, {}))
  const pets = fromOpenApi(DOCUMENT, {
    baseUrl: base,
    credentials: { key: 'k' },
    include: ({ method }) => method === 'GET',
    toolName: ({ operationId }) => (operationId === 'listPets' ? 'list' : 'show'),
    define: (_operation, definition) => ({ ...definition, title: 'Pets' }),
  })
  expect([pets.name, pets.version]).toEqual(['pet-store', '2.0.0'])
  const server = createServer({ name: 'outer', version: '1' })
  server.mount('pets', pets)
  const { client } = await connectPair(server, { revision: '2026-07-28' })
  expect(await client.tools().all()).toMatchObject([
    { name: 'pets_list', title: 'Pets' },
    { name: 'pets_show', title: 'Pets' },
  ])
  expect((await client.call('pets_list')).isError).toBeUndefined()
})

test.each<[string, Record<string, unknown>, OpenApiOptions, string]>([
  ['another version', { swagger: '2.0' }, {}, 'version 2.0 is not supported; convert it to OpenAPI 3'],
  ['no version', { openapi: '4.0.0' }, {}, 'expected "openapi" with version 3.0 or 3.1, got "4.0.0"'],
  [
    'an address without a host',
    { ...DOCUMENT, servers: [{ url: '/v1' }] },
    { credentials: { key: 'k', basic: 'b' } },
    'expected the http or https URL of the API, got "/v1"; give the option "baseUrl"',
  ],
  ['no address', { ...DOCUMENT, servers: [] }, { credentials: { key: 'k', basic: 'b' } }, 'it has no "servers"'],
  ['missing credentials', DOCUMENT, {}, 'GET /pets needs credentials for key; add them to the option "credentials"'],
  [
    'a reference to another file',
    { openapi: '3.1.0', info: {}, servers: [{ url: 'http://a' }], paths: { '/a': { get: { parameters: [{ $ref: 'b.json#/c' }] } } } },
    {},
    'got b.json#/c; bundle it into one file first',
  ],
  [
    'a reference that leads nowhere',
    { openapi: '3.1.0', info: {}, servers: [{ url: 'http://a' }], paths: { '/a': { get: { parameters: [{ $ref: '#/b/constructor' }] } } } },
    {},
    'the reference #/b/constructor leads nowhere',
  ],
])('%s is an error that says what to do', (_what, document, options, message) => {
  expect(() => fromOpenApi(document, options)).toThrow(message)
})
