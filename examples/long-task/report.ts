/** A tool whose calls run as tasks. A task goes on when its client leaves, and another client reads the result. */

import { setTimeout as pause } from 'node:timers/promises'
import { createServer, type Server } from 'portico/server'
import { fileTaskStore, type TaskStore, tasks } from 'portico/tasks'
import { z } from 'zod'

export function reportServer(store: TaskStore, monthMs = 200): Server {
  const server = createServer({ name: 'reports', version: '1.0.0' })
  server.extend(tasks({ store, pollIntervalMs: 100 }))
  server.tool(
    'report',
    {
      description: 'Builds the report of a year',
      input: z.object({ year: z.number().int() }),
      task: 'required',
      restartable: true, // after a restart of the server the handler runs again; steps in ctx.once are not repeated
    },
    async ({ year }, ctx) => {
      const number = await ctx.once('number', () => `R-${year}`)
      for (let month = 1; month <= 12; month++) {
        await pause(monthMs, undefined, { signal: ctx.signal })
        await ctx.progress(month, 12, `Month ${month} of 12`)
      }
      return `Report ${number} is ready`
    },
  )
  return server
}

export { fileTaskStore }
