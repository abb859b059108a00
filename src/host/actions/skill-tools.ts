/** The two tools with which a model uses approved skills. They exist only if a skill is approved. */

import { visibleText } from '../../base/text/visible-text.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Tool } from '../../protocol/model/tools.ts'
import type { CallOutcome } from '../conversation/chat/tool-call.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import type { UseOptions } from './action-request.ts'
import type { ActionServices } from './action-services.ts'
import { listSkills, type SkillEntry } from './list-skills.ts'
import { loadSkill, skillFileText } from './load-skill.ts'

// These cannot collide with exposed names, which all contain a server and two underscores.
const LOAD = 'load_skill'
const READ = 'read_skill_file'

/** More descriptions would fill the context of the model. The model can still load the others by name. */
const MAX_DESCRIBED = 100
const MAX_DESCRIPTION = 300

export type SkillServers = () => Iterable<HostedServer>

const approved = (servers: SkillServers): SkillEntry[] => listSkills(servers()).filter(({ state }) => state === 'approved')

export function skillTools(servers: SkillServers): Tool[] {
  const skills = approved(servers)
  if (skills.length === 0) return []
  const lines = skills
    .slice(0, MAX_DESCRIBED)
    .map(({ exposed, definition: { frontmatter } }) => `- ${exposed}: ${shortened(frontmatter.description)}`)
  const more = skills.length > lines.length ? [`- and ${skills.length - lines.length} more`] : []
  return [
    {
      name: LOAD,
      description: [
        'Loads a skill: instructions for a task, written by a server. The part before the first slash is the server.',
        ...lines,
        ...more,
      ].join('\n'),
      inputSchema: {
        type: 'object',
        properties: { skill: { type: 'string', description: 'The name from the list' } },
        required: ['skill'],
        additionalProperties: false,
      },
    },
    {
      name: READ,
      description: 'Reads a file of a skill that you loaded.',
      inputSchema: {
        type: 'object',
        properties: {
          skill: { type: 'string', description: 'The name of the skill' },
          file: { type: 'string', description: 'The path of the file within the skill, such as references/FORMS.md' },
        },
        required: ['skill', 'file'],
        additionalProperties: false,
      },
    },
  ]
}

/** Undefined if the name is not one of these tools. */
export async function callSkillTool(
  services: ActionServices,
  servers: SkillServers,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: UseOptions,
): Promise<CallOutcome | undefined> {
  if (name !== LOAD && name !== READ) return undefined
  const { skill, file } = args
  if (typeof skill !== 'string') throw badArguments(name, '"skill", a text', args)
  const entry = listSkills(servers()).find(({ exposed }) => exposed === skill)
  const server = entry && [...servers()].find(({ id }) => id === entry.server)
  if (!entry || !server) throw new McpError('ERR_SERVER_UNKNOWN', `There is no skill ${JSON.stringify(skill.slice(0, 200))}`)
  if (name === LOAD) {
    const { text, files } = await loadSkill(services, server, entry.uri, options)
    return answer(`${text}\n\n[Files of this skill: ${files.map((path) => visibleText(path)).join(', ')}. Read them with ${READ}.]`)
  }
  if (typeof file !== 'string') throw badArguments(name, '"file", a text', args)
  return answer(await skillFileText(services, server, entry.uri, file, options))
}

const answer = (text: string): CallOutcome => ({ kind: 'result', result: { content: [{ type: 'text', text }] } })

const shortened = (text: string): string => {
  const line = visibleText(text)
  return line.length > MAX_DESCRIPTION ? `${line.slice(0, MAX_DESCRIPTION - 1)}…` : line
}

const badArguments = (tool: string, expected: string, args: unknown): McpError =>
  new McpError('ERR_INVALID_PARAMS', `${tool}: expected ${expected}, got ${JSON.stringify(args).slice(0, 200)}`)
