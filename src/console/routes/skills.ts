/** Routes for the skills of servers: list, read before you approve, approve, revoke. */

import type { SkillEntry } from '../../host/index.ts'
import type { SkillView } from '../api.ts'
import { BY_PERSON, type ConsoleServices } from '../services.ts'
import { specOf } from '../views.ts'
import { input, type Route, route } from '../web/router.ts'

const TEXT = { type: 'string' }
const SKILL = { server: TEXT, uri: TEXT }

export function skillRoutes({ host, operations, byHand, events }: ConsoleServices): Route[] {
  return [
    route('GET /api/skills', { query: input({ 'server?': TEXT }) }, ({ query }) => ({
      skills: host.skills().flatMap((entry) => (query.server === undefined || entry.server === query.server ? [viewOf(entry)] : [])),
    })),
    route('POST /api/skills/read', { body: input({ ...SKILL, 'path?': TEXT }), status: 202 }, ({ body: { server, uri, path } }) => {
      specOf(host, server)
      return {
        operation: operations.start({
          kind: 'read',
          target: uri,
          server,
          run: ({ signal }) =>
            host.readSkillFile(server, uri, path ?? 'SKILL.md', { ...BY_PERSON, conversation: byHand.emptied(), signal }),
        }),
      }
    }),
    route('POST /api/skills/approve', { body: input(SKILL), status: 202 }, ({ body: { server, uri } }) => {
      specOf(host, server)
      const run = async ({ signal }: { signal: AbortSignal }): Promise<null> => {
        await host.approve(server, { items: [`skill ${uri}`], signal })
        return null
      }
      return { operation: operations.start({ kind: 'approve', target: server, run }) }
    }),
    route('POST /api/skills/revoke', { body: input(SKILL) }, async ({ body: { server, uri } }) => {
      specOf(host, server)
      await host.revokeSkill(server, uri)
      events.publish('review', { server, items: host.review(server)?.items.length ?? 0, isFirst: false })
      return null
    }),
  ]
}

function viewOf({ exposed, server, uri, state, definition: { frontmatter, resources } }: SkillEntry): SkillView {
  const { name, description } = frontmatter
  const root = uri.slice(0, -'SKILL.md'.length)
  const files = resources === 'dynamic' ? [] : resources.map((file) => ({ path: file.uri.slice(root.length), size: file.size }))
  return { exposed, server, uri, state, name, description, files }
}
