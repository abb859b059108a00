/** A server with something to test: a typed result, an error, and a question before something happens. */

import { createServer, Declined, type Server, ToolError } from 'portico/server'
import { z } from 'zod'

export interface Shop {
  prices: Record<string, number>
  orders: { number: number; item: string }[]
}

export function shopServer(shop: Shop): Server {
  const server = createServer({ name: 'shop', version: '1.0.0' })
  const input = z.object({ item: z.string() })
  const priceOf = (item: string): number => {
    const price = shop.prices[item]
    if (price === undefined) throw new ToolError(`The shop has no ${item}`)
    return price
  }

  server.tool('price', { input, output: z.object({ price: z.number() }) }, ({ item }) => ({ price: priceOf(item) }))

  server.tool('order', { description: 'Orders an item', input }, async ({ item }, ctx) => {
    const price = priceOf(item)
    try {
      await ctx.elicit('sure', `Order ${item} for ${price}?`, z.object({ sure: z.literal(true) }))
    } catch (error) {
      if (error instanceof Declined) return 'Nothing was ordered'
      throw error
    }
    // Once, however often the handler runs for this call.
    const order = await ctx.once('order', () => ({ number: shop.orders.push({ item, number: shop.orders.length + 1 }) }))
    return `Order ${order.number}: ${item}`
  })
  return server
}
