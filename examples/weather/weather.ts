/** The weather server: a tool with a typed result, a resource and a prompt. */

import { createServer, type Server, ToolError } from 'portico/server'
import { z } from 'zod'
import { sampleCities, type WeatherSource } from './source.ts'

const day = z.object({ date: z.string(), sky: z.string(), low: z.number(), high: z.number() })

export function weatherServer(source: WeatherSource): Server {
  const server = createServer({ name: 'weather', version: '1.0.0', instructions: 'Temperatures are in degrees Celsius.' })

  server.tool(
    'forecast',
    {
      description: 'The forecast for a city',
      input: z.object({ city: z.string().min(1), days: z.number().int().min(1).max(7).default(3) }),
      output: z.object({ city: z.string(), days: z.array(day) }),
      annotations: { readOnlyHint: true, openWorldHint: true },
      timeoutMs: 10_000,
    },
    async ({ city, days }, ctx) => {
      const found = await source(city, days, ctx.signal)
      if (!found) throw new ToolError(`There is no city "${city}"`)
      return { city, days: found }
    },
  )

  server.resource('weather://cities', { name: 'cities', description: 'Cities with sample data' }, () => sampleCities)

  server.prompt(
    'pack',
    { description: 'What to pack for a trip', input: z.object({ city: z.string() }), complete: { city: () => sampleCities } },
    ({ city }) => `Look up the forecast for ${city}, and tell me what to pack for three days there.`,
  )
  return server
}
