/** One server made of two: tools from the description of an API, and tools of its own. */

import { transform } from 'portico/compose'
import { fromOpenApi } from 'portico/openapi'
import { createServer, type Server } from 'portico/server'
import { z } from 'zod'
import { description } from './shop-api.ts'

export function shopServer(baseUrl: string, key: string): Server {
  const api = fromOpenApi(description, { baseUrl, credentials: { key } })

  const server = createServer({ name: 'helper', version: '1.0.0' })
  server.tool('convert', { description: 'Euro to kroner', input: z.object({ euro: z.number() }) }, ({ euro }) => `${euro * 11.5} kr`)
  server.mount(
    'shop',
    api,
    transform({
      tools: {
        listItems: { name: 'list', arguments: { shelf: { default: 'north' }, limit: { fixed: 20 } } },
        deleteItem: false, // not for a model
      },
    }),
  )
  return server
}
