/** `server.json` of the registry: how a server is got and started, with what has to be filled in. */

import { placeholderText } from '../../launch/placeholder.ts'
import type { HttpTransport, InputSpec, StdioTransport } from '../../model/server-spec.ts'
import type { Dialect, Draft, Reading } from '../dialect.ts'
import { httpWay, processWay } from '../entry.ts'
import { literal } from '../foreign-text.ts'
import { type Members, membersOf } from '../members.ts'
import { Refused, within } from '../problem.ts'

export const registry: Dialect = {
  client: 'MCP Registry',
  read: (document, reading) => {
    // An answer of the registry has the server inside.
    const server = document.has('server') ? document.inner('server') : document
    if (!server) return
    const name = server.text('name') ?? 'server'
    const title = server.text('title')
    const read = (kind: 'packages' | 'remotes', transport: (entry: Members, inputs: Inputs) => StdioTransport | HttpTransport): void => {
      server.list(kind)?.forEach((value, i) => {
        const where = `${within(server.where, kind)}[${i}]`
        reading.server(name, where, () => draftOf(membersOf(value, where), title, transport, reading))
      })
    }
    read('packages', packageWay)
    read('remotes', remoteWay)
  },
}

function draftOf(
  entry: Members,
  title: string | undefined,
  transport: (entry: Members, inputs: Inputs) => StdioTransport | HttpTransport,
  reading: Reading,
): Draft {
  const inputs = inputsOf()
  const draft: Draft = { transport: transport(entry, inputs), inputs: inputs.list(), ...(title !== undefined && { title }) }
  entry.finish(reading.problem)
  return draft
}

interface Inputs {
  /** The text of a value that is described: what it is, or a placeholder for what is asked. */
  text(described: Members, name: string): string | undefined
  list(): InputSpec[]
}

function inputsOf(): Inputs {
  const asked = new Map<string, InputSpec>()
  const ask = (described: Members, name: string): string => {
    if (!/^[^\s{}:$]{1,128}$/.test(name)) throw new Refused(described.where, 'A value that is asked for cannot have this name')
    const description = described.text('description')
    const fallback = described.text('default')
    const options = described.texts('choices')
    asked.set(name, {
      id: name,
      isSecret: described.flag('isSecret') === true,
      ...(description !== undefined && { description }),
      ...(fallback !== undefined && { default: fallback }),
      ...(options !== undefined && { options }),
    })
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

/** What fetches and runs a package of a kind, if the package does not say. */
const RUNNERS: Readonly<
  Record<string, { command: string; before: readonly string[]; versioned: (id: string, version: string) => string }>
> = {
  npm: { command: 'npx', before: ['-y'], versioned: (id, version) => `${id}@${version}` },
  pypi: { command: 'uvx', before: [], versioned: (id, version) => `${id}==${version}` },
  oci: { command: 'docker', before: ['run', '-i', '--rm'], versioned: (id, version) => (/:[^/]*$/.test(id) ? id : `${id}:${version}`) },
  nuget: { command: 'dnx', before: [], versioned: (id, version) => `${id}@${version}` },
}

function packageWay(entry: Members, inputs: Inputs): StdioTransport | HttpTransport {
  const kind = entry.text('registryType') ?? entry.text('registry_name') ?? ''
  const identifier = entry.text('identifier') ?? entry.text('name')
  const version = entry.text('version')
  const runner = Object.hasOwn(RUNNERS, kind) ? RUNNERS[kind] : undefined
  if (!runner) throw new Refused(within(entry.where, 'registryType'), `A kind of package was expected: ${Object.keys(RUNNERS).join(', ')}`)
  if (identifier === undefined || identifier.startsWith('-'))
    throw new Refused(within(entry.where, 'identifier'), 'A name of a package was expected')
  const transport = entry.inner('transport')?.text('type') ?? 'stdio'
  if (transport !== 'stdio')
    throw new Refused(within(entry.where, 'transport'), 'A package that listens for itself is not started; only stdio is')
  entry.pass('registryBaseUrl', 'fileSha256')
  const runtime = argumentsIn(entry, 'runtimeArguments', inputs)
  const env = environmentIn(entry, inputs)
  const args = [
    ...runner.before.filter((each) => !runtime.includes(each)),
    ...runtime,
    ...(kind === 'oci' ? Object.keys(env).flatMap((name) => ['-e', name]) : []),
    version === undefined ? identifier : runner.versioned(identifier, version),
    ...argumentsIn(entry, 'packageArguments', inputs),
  ]
  // The texts hold placeholders of ours by now.
  return processWay(entry.where, { command: entry.text('runtimeHint') ?? runner.command, args, env }, (text) => text)
}

function argumentsIn(entry: Members, name: string, inputs: Inputs): string[] {
  return (entry.list(name) ?? []).flatMap((value, i) => {
    const where = `${within(entry.where, name)}[${i}]`
    const argument = membersOf(value, where)
    const flag = argument.text('type') === 'named' ? argument.text('name') : undefined
    const text = inputs.text(argument, flag?.replace(/^-+/, '') ?? argument.text('valueHint') ?? `${name}-${i + 1}`)
    if (flag === undefined) return text === undefined ? [] : [text]
    if (text !== undefined) return [flag, text]
    // A switch, which has no value at all.
    return argument.flag('isRequired') === false ? [] : [flag]
  })
}

function environmentIn(entry: Members, inputs: Inputs): Record<string, string> {
  return named(entry, 'environmentVariables', inputs)
}

function remoteWay(entry: Members, inputs: Inputs): HttpTransport {
  const type = entry.text('type') ?? entry.text('transport_type')
  if (type !== 'streamable-http' && type !== 'sse') throw new Refused(within(entry.where, 'type'), 'streamable-http or sse was expected')
  const value = entry.text('url')
  if (value === undefined) throw new Refused(entry.where, 'It has no url')
  const url = inputs.text(membersOf({ value, variables: entry.has('variables') ? rawVariables(entry) : undefined }, entry.where), 'url')
  return httpWay(entry.where, { url: url as string, headers: named(entry, 'headers', inputs) }, (text) => text)
}

const rawVariables = (entry: Members): unknown => Object.fromEntries(entry.inner('variables')?.entries() ?? [])

function named(entry: Members, member: string, inputs: Inputs): Record<string, string> {
  const found = (entry.list(member) ?? []).flatMap((value, i): [string, string][] => {
    const described = membersOf(value, `${within(entry.where, member)}[${i}]`)
    const name = described.text('name')
    if (name === undefined) throw new Refused(described.where, 'It has no name')
    const text = inputs.text(described, name)
    return text === undefined ? [] : [[name, text]]
  })
  return Object.fromEntries(found)
}
