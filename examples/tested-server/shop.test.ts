/** Tests with node:test. Any other test runner works as well. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pair, record, rehearse } from 'portico/testing'
import { type Shop, shopServer } from './shop.ts'

const newShop = (): Shop => ({ prices: { lamp: 30 }, orders: [] })
const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

for (const revision of REVISIONS)
  test(`a price is found in revision ${revision}`, async () => {
    const { client, close } = await pair(shopServer(newShop()), { revision })
    assert.deepEqual((await client.call('price', { item: 'lamp' })).content, [{ type: 'text', text: '{"price":30}' }])
    const unknown = await client.call('price', { item: 'moon' })
    assert.equal(unknown.isError, true)
    assert.deepEqual(unknown.content, [{ type: 'text', text: 'The shop has no moon' }])
    await close()
  })

test('an order needs a yes', async () => {
  const shop = newShop()
  const { client, close } = await pair(shopServer(shop), { answer: { elicit: () => ({ action: 'decline' }) } })
  assert.deepEqual((await client.call('order', { item: 'lamp' })).content, [{ type: 'text', text: 'Nothing was ordered' }])
  assert.deepEqual(shop.orders, [])
  await close()
})

test('an order happens once, also if the server restarts between question and answer', async () => {
  const shop = newShop()
  const { result } = await rehearse(
    shopServer(shop),
    'order',
    { item: 'lamp' },
    { sure: { sure: true } },
    { effects: { 'the order': () => shop.orders.length } },
  )
  assert.deepEqual(result.content, [{ type: 'text', text: 'Order 1: lamp' }])
})

test('the client sends one request for one call', async () => {
  const messages = await record(shopServer(newShop()), { revision: '2026-07-28' }, async (client) => {
    await client.call('price', { item: 'lamp' })
  })
  const calls = messages.filter(({ from, json }) => from === 'client' && JSON.parse(json).method === 'tools/call')
  assert.equal(calls.length, 1)
})
