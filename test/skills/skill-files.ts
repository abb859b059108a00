/** Folders of skills, and servers that say about skills whatever a test wants. */

import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { serverExtension } from '../../src/extensions/index.ts'
import { connect } from '../../src/index.ts'
import type { Skill } from '../../src/protocol/model/skills.ts'
import { SKILLS } from '../../src/protocol/model/skills.ts'
import { createServer, type Server } from '../../src/server/index.ts'
import { skillsOf } from '../../src/skills/index.ts'

export const skillText = (name: string, more = '', body = '# Steps\n\nDo it well.\n'): string =>
  `---\nname: ${name}\ndescription: Does ${name} well\n${more}---\n\n${body}`

/** Writes files below a folder, by path. */
export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

export const digestOf = (content: string | Uint8Array): string => `sha256:${createHash('sha256').update(content).digest('hex')}`

/** The true entry of a skill with these files. */
export function entryOf(uri: string, files: Readonly<Record<string, string>>, frontmatter: object = {}): Skill {
  const root = uri.slice(0, -'/SKILL.md'.length)
  const name = root.split('/').at(-1) as string
  return {
    uri,
    frontmatter: { name, description: `Does ${name} well`, ...frontmatter },
    resources: Object.entries(files).map(([path, content]) => ({
      uri: `${root}/${path}`,
      digest: digestOf(content),
      size: Buffer.byteLength(content),
    })),
  }
}

export interface ScriptedSkills {
  server: Server
  /** The requests about skills and resources so far, with the URI. */
  asked: string[]
  /** What the server lists. Change it to let the server lie. */
  list: unknown[]
  /** What `skills/get` answers, by URI, in addition to the list. */
  others: Record<string, unknown>
  /** The contents of files, by URI. */
  contents: Record<string, unknown>
}

/** A server whose entries and contents need not agree. */
export function scriptedSkills(
  list: unknown[],
  contents: Record<string, unknown>,
  { settings = { directoryRead: true }, folders = {} }: { settings?: Record<string, unknown>; folders?: Record<string, unknown[]> } = {},
): ScriptedSkills {
  const server = createServer({ name: 'scripted', version: '1', onError: () => {} })
  const scripted: ScriptedSkills = { server, asked: [], list, others: {}, contents }
  const note = (method: string, uri: unknown): void => void scripted.asked.push(uri === undefined ? method : `${method} ${String(uri)}`)
  server.use((call, next) => {
    if (call.method === 'resources/read') note(call.method, call.target)
    return next()
  })
  server.resource('skill://{+path}', { name: 'files' }, ({ path }) => {
    const uri = `skill://${String(path)}`
    const content = scripted.contents[uri]
    return typeof content === 'string' ? { uri, mimeType: 'text/markdown', text: content } : content
  })
  const extension = serverExtension({
    id: SKILLS,
    settings,
    methods: {
      'skills/list': {
        handler: ({ cursor }) => {
          note('skills/list', cursor)
          return { skills: scripted.list, ttlMs: 0, cacheScope: 'private' }
        },
      },
      'skills/get': {
        handler: ({ uri }) => {
          note('skills/get', uri)
          const found = scripted.others[String(uri)] ?? scripted.list.find((each) => (each as Skill).uri === uri)
          return { skill: found, ttlMs: 0, cacheScope: 'private' }
        },
      },
      'resources/directory/read': {
        handler: ({ uri }) => {
          note('resources/directory/read', uri)
          return { resources: folders[String(uri)] ?? [] }
        },
      },
    },
  })
  // Clients do not declare the extension for skills; this helper of the tests would refuse them.
  server.extend({ id: SKILLS, install: (state) => withoutDeclaration(extension.install(state)) })
  return scripted
}

function withoutDeclaration(addition: ReturnType<Parameters<Server['extend']>[0]['install']>): typeof addition {
  const run = addition.run.bind(addition)
  addition.run = (call) => {
    const { caller } = call
    const extensions = { ...(caller.capabilities.extensions as object), [SKILLS]: {} }
    Object.defineProperty(call, 'caller', {
      value: { ...caller, capabilities: { ...caller.capabilities, extensions } },
      configurable: true,
    })
    return run(call)
  }
  return addition
}

/** The skills of a server, as a client of this process sees them. */
export async function clientOf(server: Server) {
  const client = await connect(server)
  return { client, skills: skillsOf(client), close: () => client.close() }
}
