/** Descriptions, arguments and APIs that are wrong or hostile, against a real HTTP server. */

import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { fromOpenApi, type OpenApiOptions } from '../../src/openapi/index.ts'
import { connectPair } from '../support/judged-pair.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const echo: Answer = ({ url, headers }, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ url, headers }))
}

async function api(answer: Answer = echo): Promise<string> {
  const http = createHttpServer(answer).listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`
}

const documentOf = (paths: unknown, more: object = {}) => ({ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths, ...more })

const KEYS = {
  components: {
    securitySchemes: {
      query: { type: 'apiKey', in: 'query', name: 'api_key' },
      header: { type: 'apiKey', in: 'header', name: 'x-key' },
      one: { type: 'apiKey', in: 'cookie', name: 'one' },
      two: { type: 'apiKey', in: 'cookie', name: 'two' },
    },
  },
}

/** Calls the one operation of an API. */
async function call(operation: object, args: Record<string, unknown>, options: OpenApiOptions & { answer?: Answer; path?: string } = {}) {
  const { answer, path = '/a', ...rest } = options
  const method = 'requestBody' in operation ? 'post' : 'get'
  const server = fromOpenApi(documentOf({ [path]: { [method]: { operationId: 'go', ...operation } } }, KEYS), {
    baseUrl: await api(answer),
    server: { onError: () => {} },
    ...rest,
  })
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  return client.call('go', args)
}

const textOf = (result: Awaited<ReturnType<typeof call>>): string => JSON.stringify([result.content, result.structuredContent])
const parameter = (name: string, place: string, schema: unknown = {}) => ({ name, in: place, schema })

test('an operation that is left out may have what is not supported', () => {
  const upload = { post: { operationId: 'upload', requestBody: { content: { 'multipart/form-data': {} } } } }
  const paths = { '/a': { get: { operationId: 'list' } }, '/b': upload, '/c': { get: { parameters: [{ $ref: 'other.json' }] } } }
  const asked: string[] = []
  const include = ({ method, path }: { method: string; path: string }) => asked.push(`${method} ${path}`) === 1
  expect(() => fromOpenApi(documentOf(paths), { baseUrl: 'https://a.example', include })).not.toThrow()
  expect(asked).toEqual(['GET /a', 'POST /b', 'GET /c'])
  expect(() => fromOpenApi(documentOf({ '/b': upload }), { baseUrl: 'https://a.example' })).toThrow(
    'leave it out with the option "include"',
  )
})

test('an argument that is left out is not sent, even if all objects have a member of its name', async () => {
  const parameters = [parameter('constructor', 'query'), parameter('toString', 'header')]
  expect((await call({ parameters }, {})).structuredContent).toMatchObject({ url: '/v1/a' })
  expect((await call({ parameters }, { constructor: 'ferrari' })).structuredContent).toMatchObject({ url: '/v1/a?constructor=ferrari' })
})

test('a part of the path cannot be null, and each one needs a parameter', async () => {
  const parameters = [parameter('id', 'path', { type: ['string', 'null'] })]
  expect(textOf(await call({ parameters }, { id: null }, { path: '/a/{id}' }))).toContain('it is a part of the path')
  await expect(call({}, {}, { path: '/a/{id}' })).rejects.toThrow('the path has {id}, but there is no path parameter of this name')
})

test('headers of the transport and cookies are no arguments', async () => {
  const parameters = ['Host', 'Cookie', 'Content-Length', 'Transfer-Encoding', 'Proxy-Authorization', 'X-Ok'].map((name) =>
    parameter(name, 'header'),
  )
  const refused = await call({ parameters }, { Cookie: 'session=1' })
  expect(refused.isError).toBe(true)
  expect((await call({ parameters }, { 'X-Ok': '1' })).structuredContent).toMatchObject({ headers: { 'x-ok': '1' } })
  await expect(call({ parameters: [parameter('a b', 'header')] }, {})).rejects.toThrow('not the name of a header: "a b"')
})

test('parameters of the same name are different arguments', async () => {
  const parameters = [parameter('v', 'header'), parameter('v', 'query'), parameter('v_header', 'query')]
  const { structuredContent } = await call({ parameters }, { v: 'a', v_header: 'b', v_header_header: 'c' })
  expect(structuredContent).toMatchObject({ url: '/v1/a?v=a&v_header=b', headers: { v: 'c' } })
})

test('an argument cannot take the place of a key in the query', async () => {
  const parameters = [parameter('api_key', 'query'), parameter('filter', 'query', { type: 'object' })]
  const args = { api_key: 'mine', filter: { api_key: 'other', 'api%5Fkey': 'x', color: 'red' } }
  const { structuredContent } = await call({ parameters, security: [{ query: [] }] }, args, { credentials: { query: 'short' } })
  expect(structuredContent).toMatchObject({ url: '/v1/a?api%255Fkey=x&color=red&api_key=short' })
})

test('optional credentials are used if they are there, and cookies do not replace each other', async () => {
  const credentials = { header: 'abc', one: '1', two: '2' }
  const optional = await call({ security: [{}, { header: [] }] }, {}, { credentials })
  expect(optional.structuredContent).toMatchObject({ headers: { 'x-key': 'abc' } })
  const cookies = await call({ security: [{ one: [], two: [] }] }, {}, { credentials })
  expect(cookies.structuredContent).toMatchObject({ headers: { cookie: 'one=1; two=2' } })
})

test('the model does not see a credential that the API repeats in links, errors, texts and data', async () => {
  const operation = { security: [{ query: [] }], parameters: [parameter('page', 'query'), parameter('api_key', 'query')] }
  const credentials = { query: 'k3y/with slash' }
  const answers: Answer[] = [
    (request, response) => response.writeHead(404).end(`Cannot GET ${request.url}`),
    (request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="${request.url}">`),
    ({ url }, response) => {
      response.writeHead(200, { 'content-type': 'application/json', link: `<${url}&page=2>; rel=next` })
      response.end(JSON.stringify({ next: url, raw: credentials.query }))
    },
  ]
  for (const answer of answers) {
    const shown = textOf(await call(operation, {}, { credentials, answer }))
    expect(shown).toContain('[redacted]')
    expect(shown).not.toMatch(/k3y/)
  }
  expect(textOf(await call(operation, {}, { credentials, answer: answers[2] as Answer }))).toContain('and {\\"page\\":2}.')
})

test('a credential that no header can have is an error that does not show it', async () => {
  const errors: unknown[] = []
  const server = { onError: (error: unknown) => void errors.push(error) }
  const result = await call({ security: [{ header: [] }] }, {}, { credentials: { header: 'abc\ndef' }, server })
  expect(result.isError).toBe(true)
  expect(String(errors[0])).toContain('The credentials for "header" have characters that a header cannot have')
  expect(String(errors[0])).not.toContain('abc')
})

test('a deep or large JSON response is text, because clients refuse it as structured content', async () => {
  const deep = `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  for (const body of [deep, '{"a":{"__proto__":1}}', `{"a":[${'0,'.repeat(200_000)}0]}`]) {
    const answer: Answer = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    const result = await call({}, {}, { answer })
    expect(result.structuredContent).toBeUndefined()
    expect(result.content).toEqual([{ type: 'text', text: body }])
  }
})

test('a response that ends too early is an error that the model can read', async () => {
  const answer: Answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
    response.write('{', () => response.destroy())
  }
  expect(textOf(await call({}, {}, { answer }))).toContain('The response of the API ended too early (HTTP 200)')
})

test('a GET request has no body, and a query in the path stays', async () => {
  const paths = {
    '/a?kind=1#first': { get: { operationId: 'go', requestBody: { content: { 'image/png': {} } }, parameters: [parameter('q', 'query')] } },
  }
  const { client } = await connectPair(fromOpenApi(documentOf(paths), { baseUrl: await api() }), { revision: '2025-11-25' })
  expect((await client.call('go', { q: 'x' })).structuredContent).toMatchObject({ url: '/v1/a?kind=1&q=x' })
})

test('schemas with ids, unevaluated members and strange names can be checked', async () => {
  const schemas = JSON.parse('{"__proto__":{"type":"string"},"A%":{"type":"integer"}}')
  const schema = {
    $id: 'https://a.example/schema',
    type: 'object',
    properties: { p: { $ref: '#/components/schemas/__proto__' }, a: { $ref: '#/components/schemas/A%' } },
    unevaluatedProperties: { $ref: '#/components/schemas/__proto__' },
  }
  const requestBody = { required: true, content: { 'application/json': { schema } } }
  const document = documentOf({ '/a': { post: { operationId: 'go', requestBody } } }, { components: { schemas } })
  const { client } = await connectPair(fromOpenApi(document, { baseUrl: await api() }), { revision: '2025-11-25' })
  expect((await client.call('go', { body: { p: 'x', a: 1, other: 'y' } })).isError).toBeUndefined()
  for (const body of [{ p: 1 }, { a: 'x' }, { other: 1 }]) expect((await client.call('go', { body })).isError).toBe(true)
})

test('a schema that repeats its parts without end is refused', () => {
  let schema: object = { type: 'string' }
  for (let i = 0; i < 60; i++) schema = { type: 'object', properties: { a: schema, b: schema } }
  const document = documentOf({ '/a': { get: { parameters: [parameter('x', 'query', schema)] } } })
  expect(() => fromOpenApi(document, { baseUrl: 'https://a.example' })).toThrow('more than 100000 schemas')
})

test.each<[string, object, OpenApiOptions, string]>([
  ['a password in the address', {}, { baseUrl: 'https://u:p@a.example' }, 'give them with the option "credentials"'],
  ['credentials without encryption', { servers: [{ url: 'http://a.example' }] }, { credentials: { a: 'b' } }, 'without encryption'],
])('%s is an error', (_what, more, options, message) => {
  expect(() => fromOpenApi(documentOf({ '/a': { get: {} } }, more), options)).toThrow(message)
})

test('the author may send credentials without encryption, and an address may have spaces around it', async () => {
  expect(() => fromOpenApi(documentOf({ '/a': { get: {} } }), { baseUrl: 'http://api.internal', credentials: { a: 'b' } })).not.toThrow()
  expect((await call({}, {}, { baseUrl: ` ${await api()}/ ` })).structuredContent).toMatchObject({ url: '/v1/a' })
})

test('an operation without a usable id is named by its method and path', async () => {
  const server = fromOpenApi(documentOf({ '/a': { get: { operationId: '' }, put: { operationId: '変更' } } }), {
    baseUrl: 'https://a.example',
  })
  const { client } = await connectPair(server, { revision: '2025-11-25' })
  expect((await client.tools().all()).map(({ name }) => name)).toEqual(['get_a', 'put_a'])
})
