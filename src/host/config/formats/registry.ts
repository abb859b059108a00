/** MCP Registry: `server.json` describes how to install and start a server, and which values it needs. */

import type { HttpTransport, InputSpec, StdioTransport } from '../../model/server-spec.ts'
import { placeholderText } from '../../server-command/placeholder.ts'
import { literal } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext, ServerDraft } from '../format.ts'
import { Refused, within } from '../problem.ts'
import { httpTransport, stdioTransport } from '../read-entry.ts'
import { type Members, readMembers } from '../read-members.ts'

export const registry: ConfigFormat = {
  client: 'MCP Registry',
  read: (document, reading) => {
    // A response of the registry API wraps the server.
    const server = document.has('server') ? document.inner('server') : document
    if (!server) return
    const name = server.text('name') ?? 'server'
    const title = server.text('title')
    const read = (kind: 'packages' | 'remotes', transport: (entry: Members, inputs: Inputs) => StdioTransport | HttpTransport): void => {
      server.list(kind)?.forEach((value, i) => {
        const where = `${within(server.where, kind)}[${i}]`
        reading.server(name, where, () => readDraft(readMembers(value, where), title, transport, reading))
      })
    }
    read('packages', readPackage)
    read('remotes', readRemote)
  },
}

function readDraft(
  entry: Members,
  title: string | undefined,
  transport: (entry: Members, inputs: Inputs) => StdioTransport | HttpTransport,
  reading: FormatContext,
): ServerDraft {
  const inputs = collectInputs()
  const draft: ServerDraft = { transport: transport(entry, inputs), inputs: inputs.list(), title }
  entry.finish(reading.problem)
  return draft
}

interface Inputs {
  /** The text for a described value: its value, or a placeholder for an input. Undefined: the value is optional and not set. */
  text(described: Members, name: string): string | undefined
  list(): InputSpec[]
}

function collectInputs(): Inputs {
  const asked = new Map<string, InputSpec>()
  const ask = (described: Members, name: string): string => {
    if (!/^[^\s{}:$]{1,128}$/.test(name)) throw new Refused(described.where, 'Invalid name of an input')
    const description = described.text('description')
    const fallback = described.text('default')
    const options = described.texts('choices')
    asked.set(name, { id: name, isSecret: described.flag('isSecret') === true, description, default: fallback, options })
    return placeholderText({ kind: 'input', name })
  }
  return {
    list: () => [...asked.values()],
    text: (described, name) => {
      const variables = described.inner('variables')
      const value = described.text('value')
      described.pass('format', 'placeholder', 'valueHint', 'isRepeated', 'name', 'type')
      if (value !== undefined) {
        const filled = literal(value, described.where)
        return filled.replace(VARIABLE, (whole, variable: string) => {
          const about = variables?.inner(variable)
          return about ? ask(about, variable) : whole
        })
      }
      const isRequired = described.flag('isRequired') === true
      return isRequired || described.has('default') || described.flag('isSecret') ? ask(described, name) : undefined
    },
  }
}

const VARIABLE = /(?<!\$)\{([^\s{}:$]{1,128})\}/g

/** The default program that installs and runs packages of each type. */
const RUNNERS: Readonly<
  Record<string, { command: string; before: readonly string[]; versioned: (id: string, version: string) => string }>
> = {
  npm: { command: 'npx', before: ['-y'], versioned: (id, version) => `${id}@${version}` },
  pypi: { command: 'uvx', before: [], versioned: (id, version) => `${id}==${version}` },
  oci: { command: 'docker', before: ['run', '-i', '--rm'], versioned: (id, version) => (/:[^/]*$/.test(id) ? id : `${id}:${version}`) },
  nuget: { command: 'dnx', before: [], versioned: (id, version) => `${id}@${version}` },
}

function readPackage(entry: Members, inputs: Inputs): StdioTransport | HttpTransport {
  const kind = entry.text('registryType') ?? entry.text('registry_name') ?? ''
  const identifier = entry.text('identifier') ?? entry.text('name')
  const version = entry.text('version')
  const runner = Object.hasOwn(RUNNERS, kind) ? RUNNERS[kind] : undefined
  if (!runner) throw new Refused(within(entry.where, 'registryType'), `Expected one of ${Object.keys(RUNNERS).join(', ')}`)
  if (identifier === undefined || identifier.startsWith('-'))
    throw new Refused(within(entry.where, 'identifier'), 'Expected the name of a package')
  const transport = entry.inner('transport')?.text('type') ?? 'stdio'
  if (transport !== 'stdio')
    throw new Refused(within(entry.where, 'transport'), `Expected stdio, got ${transport}: packages that listen on HTTP are not started`)
  entry.pass('registryBaseUrl', 'fileSha256')
  const runtime = readArguments(entry, 'runtimeArguments', inputs)
  const env = readEnvironment(entry, inputs)
  const args = [
    ...runner.before.filter((each) => !runtime.includes(each)),
    ...runtime,
    ...(kind === 'oci' ? Object.keys(env).flatMap((name) => ['-e', name]) : []),
    version === undefined ? identifier : runner.versioned(identifier, version),
    ...readArguments(entry, 'packageArguments', inputs),
  ]
  // The texts already contain our placeholders, so they need no translation.
  return stdioTransport(entry.where, { command: entry.text('runtimeHint') ?? runner.command, args, env }, (text) => text)
}

function readArguments(entry: Members, name: string, inputs: Inputs): string[] {
  return (entry.list(name) ?? []).flatMap((value, i) => {
    const where = `${within(entry.where, name)}[${i}]`
    const argument = readMembers(value, where)
    const flag = argument.text('type') === 'named' ? argument.text('name') : undefined
    const text = inputs.text(argument, flag?.replace(/^-+/, '') ?? argument.text('valueHint') ?? `${name}-${i + 1}`)
    if (flag === undefined) return text === undefined ? [] : [text]
    if (text !== undefined) return [flag, text]
    // A flag without a value.
    return argument.flag('isRequired') === false ? [] : [flag]
  })
}

function readEnvironment(entry: Members, inputs: Inputs): Record<string, string> {
  return readNamedValues(entry, 'environmentVariables', inputs)
}

function readRemote(entry: Members, inputs: Inputs): HttpTransport {
  const type = entry.text('type') ?? entry.text('transport_type')
  if (type !== 'streamable-http' && type !== 'sse') throw new Refused(within(entry.where, 'type'), 'Expected streamable-http or sse')
  const value = entry.text('url')
  if (value === undefined) throw new Refused(entry.where, 'The entry has no url')
  const url = inputs.text(readMembers({ value, variables: entry.has('variables') ? rawVariables(entry) : undefined }, entry.where), 'url')
  return httpTransport(entry.where, { url: url as string, headers: readNamedValues(entry, 'headers', inputs) }, (text) => text)
}

const rawVariables = (entry: Members): unknown => Object.fromEntries(entry.inner('variables')?.entries() ?? [])

function readNamedValues(entry: Members, member: string, inputs: Inputs): Record<string, string> {
  const found = (entry.list(member) ?? []).flatMap((value, i): [string, string][] => {
    const described = readMembers(value, `${within(entry.where, member)}[${i}]`)
    const name = described.text('name')
    if (name === undefined) throw new Refused(described.where, 'The entry has no name')
    const text = inputs.text(described, name)
    return text === undefined ? [] : [[name, text]]
  })
  return Object.fromEntries(found)
}
