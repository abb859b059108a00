/** The demo server: a harbour that finds a berth for a ship. */

import { createServer } from 'portico/server'
import { serveStdio } from 'portico/stdio'

const server = createServer({ name: 'harbour', version: '1.0.0', title: 'Harbour office' })

const STEPS = ['Reading the tide table', 'Looking for a free berth', 'Telling the harbour master']

const stay = {
  type: 'object',
  properties: {
    nights: { type: 'integer', title: 'Nights', minimum: 1, maximum: 14, default: 2 },
    power: { type: 'boolean', title: 'Shore power', default: true },
  },
  required: ['nights'],
}

server.tool(
  'berth',
  {
    description: 'Finds a berth for a ship',
    input: { type: 'object', properties: { ship: { type: 'string' } }, required: ['ship'] },
    annotations: { readOnlyHint: false, destructiveHint: false },
  },
  async ({ ship }, ctx) => {
    // In a revision without server requests the handler runs again once the question is answered: this part only once.
    await ctx.once('prepared', async () => {
      for (const [i, step] of STEPS.entries()) {
        await ctx.progress(i + 1, STEPS.length, step)
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    })
    const { nights, power } = await ctx.elicit('stay', `How long will the ${ship} stay?`, stay)
    return `Berth 7 is kept for the ${ship}: ${nights} nights, ${power ? 'with' : 'without'} shore power.`
  },
)

serveStdio(server)
