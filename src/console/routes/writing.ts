/** The switch "I am writing this server": a rule of the user, so that its restarts and its changed offering are not asked about. */

import type { Host } from '../../host/index.ts'
import { conflict } from '../errors.ts'
import type { ConsoleServices } from '../services.ts'
import { serverDetails, specOf, writingRuleOf } from '../views.ts'
import { input, type Route, route } from '../web/router.ts'

export function writingRoutes({ host, events, written, clock }: ConsoleServices): Route[] {
  return [
    route('PUT /api/servers/:id/writing', { body: input({ isOn: { type: 'boolean' } }) }, async ({ params: { id }, body: { isOn } }) => {
      const spec = specOf(host, id)
      if (host.policy.file === undefined) throw conflict('This host has no policy file for your rules')
      if (isOn && spec.provenance.some(({ scope }) => scope === 'project'))
        throw conflict(`No rule can start ${JSON.stringify(id)} without a question: a project configures it`)
      if (isOn) {
        await host.policy.setRule(writingRuleOf(id), {
          effect: 'allow',
          match: { action: ['server.launch', 'server.connect', 'server.approve'], server: id },
          reason: 'You are writing this server',
        })
      } else await endWriting(host, [id])
      await written.sync()
      events.publish('policy', { preset: host.policy.current().preset })
      events.publish('servers', { ids: host.specs().map((each) => each.id) })
      return { server: await serverDetails(host, id, clock) }
    }),
  ]
}

/** The rule names the server only. Another server, or another command, must not start because of it. */
export async function endWriting(host: Host, ids: readonly string[]): Promise<void> {
  for (const id of ids) if (isRule(host, writingRuleOf(id))) await host.policy.setRule(writingRuleOf(id), undefined)
}

const isRule = (host: Host, rule: string): boolean => host.policy.current().policy.layers.user?.some(({ id }) => id === rule) === true
