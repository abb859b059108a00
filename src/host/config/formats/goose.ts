/** Goose: `extensions` in its YAML settings. */

import { placeholderText } from '../../server-command/placeholder.ts'
import { shellLike } from '../foreign-text.ts'
import type { ConfigFormat, ServerDraft } from '../format.ts'
import { Refused, within } from '../problem.ts'
import { httpTransport, negated, readEntries, readTimeout, stdioTransport } from '../read-entry.ts'
import type { Members } from '../read-members.ts'

export const goose: ConfigFormat = {
  client: 'Goose',
  read: (document, reading) => readEntries(document.inner('extensions'), reading, extension),
}

/** Extensions that are part of the client or run inside it. */
const INSIDE = ['builtin', 'platform', 'frontend', 'inline_python']

function extension(entry: Members): ServerDraft | undefined {
  const type = entry.text('type')
  if (type !== undefined && INSIDE.includes(type)) return undefined
  const command = entry.text('cmd')
  const url = entry.text('uri')
  const envs = entry.table('envs')
  const keys = entry.texts('env_keys') ?? []
  const args = entry.texts('args')
  const cwd = entry.text('cwd')
  const headers = entry.table('headers')
  const title = entry.text('display_name') ?? entry.text('name')
  const isDisabled = negated(entry.flag('enabled'))
  const timeoutMs = readTimeout(entry, 'timeout', 1000)
  entry.pass('description', 'bundled', 'available_tools', 'name')
  const rest = { title: title || undefined, isDisabled, timeoutMs }
  if (url !== undefined) return { transport: httpTransport(entry.where, { url, headers }, shellLike), ...rest }
  if (command === undefined) throw new Refused(entry.where, 'The entry has neither cmd nor uri')
  const transport = stdioTransport(entry.where, { command, args, env: envs, cwd }, shellLike)
  if (keys.length === 0) return { transport, ...rest }
  if (!keys.every((key) => NAME.test(key))) throw new Refused(within(entry.where, 'env_keys'), 'Invalid name of an environment variable')
  // Goose stores these in its own keychain, so the person is asked for them here.
  const asked = keys.map((name) => [name, placeholderText({ kind: 'input', name })])
  return {
    transport: { ...transport, env: { ...transport.env, ...Object.fromEntries(asked) } },
    inputs: keys.map((id) => ({ id, isSecret: true })),
    ...rest,
  }
}

const NAME = /^[A-Za-z_]\w{0,127}$/
