/** An HTTP API with an OpenAPI description. It stands for the API that you have. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const description = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1.0.0' },
  security: [{ key: [] }],
  paths: {
    '/items': {
      get: {
        operationId: 'listItems',
        summary: 'Lists the items of a shelf',
        parameters: [
          { name: 'shelf', in: 'query', required: true, schema: { type: 'string' } },
          { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50 } },
        ],
      },
    },
    '/items/{id}': {
      delete: {
        operationId: 'deleteItem',
        summary: 'Deletes an item',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
      },
    },
  },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
}

export async function startApi(key: string): Promise<{ url: string; close(): void }> {
  const items = ['lamp', 'chair', 'table'].map((name, i) => ({ id: i + 1, name, shelf: i < 2 ? 'north' : 'south' }))
  const http = createServer(({ url = '', method, headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const send = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (headers['x-api-key'] !== key) return send(401, { error: 'Unknown key' })
    if (method !== 'GET' || pathname !== '/items') return send(404, { error: 'Not found' })
    const shelf = searchParams.get('shelf')
    send(200, { items: items.filter((item) => item.shelf === shelf).slice(0, Number(searchParams.get('limit') ?? 50)) })
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, close: () => void http.close() }
}
