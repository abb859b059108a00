import { createServer } from 'portico/server'
import { z } from 'zod'

export const server = createServer({ name: 'worker', version: '1.0.0' })

server.tool('work', { input: z.object({ steps: z.number() }) }, async ({ steps }, extra) => {
  const progressToken = extra.meta?.progressToken
  for (let step = 1; step <= steps && !extra.signal.aborted; step++) {
    if (progressToken !== undefined)
      await extra.progress(step, steps)
  }
  await extra.log.info('done')
  return { content: [{ type: 'text', text: `${steps} steps` }] }
})

server.tool('state', { description: 'Whether the call goes on' }, async (_args, extra) => ({
  content: [{ type: 'text', text: String(extra.signal.aborted) }],
}))

server.tool('note', { input: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
  const state = { signal: ctx.signal }
  await ctx.log.warning({ text })
  return { content: [{ type: 'text', text: ctx.signal.aborted || state.signal.aborted ? 'stopped' : text }] }
})
