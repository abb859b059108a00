/** Goose: `extensions` in YAML, among its settings. */

import { placeholderText } from '../../launch/placeholder.ts'
import type { Dialect, Draft } from '../dialect.ts'
import { httpWay, negated, processWay, readEntries, timeoutIn } from '../entry.ts'
import { shellLike } from '../foreign-text.ts'
import type { Members } from '../members.ts'
import { Refused, within } from '../problem.ts'

export const goose: Dialect = {
  client: 'Goose',
  read: (document, reading) => readEntries(document.inner('extensions'), reading, extension),
}

/** Part of the client itself, or run inside of it. */
const INSIDE = ['builtin', 'platform', 'frontend', 'inline_python']

function extension(entry: Members): Draft | undefined {
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
  const timeoutMs = timeoutIn(entry, 'timeout', 1000)
  entry.pass('description', 'bundled', 'available_tools', 'name')
  const rest = { ...(title && { title }), ...(isDisabled !== undefined && { isDisabled }), ...(timeoutMs !== undefined && { timeoutMs }) }
  if (url !== undefined) return { transport: httpWay(entry.where, { url, headers }, shellLike), ...rest }
  if (command === undefined) throw new Refused(entry.where, 'It has neither cmd nor uri')
  const transport = processWay(entry.where, { command, args, env: envs, cwd }, shellLike)
  if (keys.length === 0) return { transport, ...rest }
  if (!keys.every((key) => NAME.test(key))) throw new Refused(within(entry.where, 'env_keys'), 'A variable cannot have this name')
  // Goose keeps these in a keychain of its own: here the person is asked for them.
  const asked = keys.map((name) => [name, placeholderText({ kind: 'input', name })])
  return {
    transport: { ...transport, env: { ...transport.env, ...Object.fromEntries(asked) } },
    inputs: keys.map((id) => ({ id, isSecret: true })),
    ...rest,
  }
}

const NAME = /^[A-Za-z_]\w{0,127}$/
