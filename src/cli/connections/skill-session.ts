/** The skills of a server as commands use them: through the host, or of a server at a URL or behind a command. */

import type { ResourceContents } from '../../client/index.ts'
import type { Health, SkillEntry } from '../../host/index.ts'
import { type Skill, skillsOf } from '../../skills/index.ts'
import type { Invocation } from '../command-runner.ts'
import { unknownName } from '../errors.ts'
import { safe } from '../output/safe-text.ts'
import { withClient } from './connect.ts'
import { withDirect } from './direct.ts'
import type { TargetOptions } from './options.ts'
import type { TargetName } from './target.ts'

export interface ShownSkill {
  /** The name to type. */
  name: string
  /** Undefined for a server that is not configured: there is nothing to approve. */
  state: SkillEntry['state'] | undefined
  definition: Skill
}

export interface SkillSession {
  /** Configured servers that have not been started, because the person has not allowed it yet. */
  readonly notEnabled: readonly string[]
  /** Configured servers that did not start, or are not connected. */
  readonly failed: readonly { id: string; error: Error }[]
  list(): Promise<readonly ShownSkill[]>
  /** A verified file. @param path within the skill */
  read(skill: ShownSkill, path: string): Promise<readonly ResourceContents[]>
}

/** Connects, runs `use`, and always closes. @param target undefined: all configured servers */
export async function withSkills<T>(
  invocation: Invocation,
  target: TargetName | undefined,
  options: TargetOptions,
  use: (session: SkillSession) => Promise<T>,
): Promise<T> {
  const { screen, signal } = invocation
  if (target !== undefined && target.kind !== 'server')
    return withDirect(invocation, target, options, (server) =>
      withClient(invocation, server, (client) => {
        const skills = skillsOf(client, { onUnusable: ({ message }) => screen.note(safe`${screen.noteStyle.yellow('!')} ${message}`) })
        return use({
          notEnabled: [],
          failed: [],
          list: async () =>
            (await skills.list({ signal }).all()).map((definition) => ({ name: pathOf(definition), state: undefined, definition })),
          read: async ({ definition }, path) => {
            const { uri, mimeType, text, bytes } = await (await skills.load(definition, { signal })).read(path, { signal })
            const about = { uri, ...(mimeType !== undefined && { mimeType }) }
            return [text === undefined ? { ...about, blob: Buffer.from(bytes).toString('base64') } : { ...about, text }]
          },
        })
      }),
    )
  const [{ withHost }, { notEnabled }] = await Promise.all([import('./open-host.ts'), import('./enable-servers.ts')])
  return withHost(invocation, { ...(target && { only: [target.id] }), parks: options.inbox === true, asksAboutOfferings: false }, (host) =>
    use({
      notEnabled: notEnabled(host),
      failed: Object.entries(host.health()).flatMap(([id, health]) => {
        const error = failureOf(health)
        return error ? [{ id, error }] : []
      }),
      list: async () => {
        const failure = target && failureOf(host.health()[target.id])
        if (failure) throw failure
        return host.skills().map(({ exposed, state, definition }) => ({ name: exposed, state, definition }))
      },
      read: async ({ name, definition }, path) => {
        const { server } = host.skills().find(({ exposed }) => exposed === name) as SkillEntry
        return (await host.readSkillFile(server, definition.uri, path, { as: 'person', signal })).contents
      },
    }),
  )
}

function failureOf(health: Health | undefined): Error | undefined {
  if (health?.state === 'refused') return health.error
  return health?.state === 'waiting' || health?.state === 'open-circuit' ? health.lastError : undefined
}

const pathOf = ({ uri }: Skill): string => uri.replace(/^[^:]+:\/\//, '').replace(/\/SKILL\.md$/, '')

/** @throws UsageError with the nearest name */
export async function skillNamed(session: SkillSession, name: string): Promise<ShownSkill> {
  const all = await session.list()
  const found = all.find((each) => each.name === name || each.definition.uri === name)
  if (found) return found
  throw unknownName(
    'skill',
    name,
    all.map((each) => each.name),
  )
}
