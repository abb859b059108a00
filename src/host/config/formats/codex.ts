/** Codex: `mcp_servers` in its TOML settings. It has no placeholders; members name environment variables instead. */

import { placeholderText } from '../../server-command/placeholder.ts'
import { literal } from '../foreign-text.ts'
import type { ConfigFormat, FormatContext, ServerDraft } from '../format.ts'
import { Refused, within } from '../problem.ts'
import { APPROVALS_IGNORED, BOTH_TRANSPORTS, httpTransport, negated, readEntries, readTimeout, stdioTransport } from '../read-entry.ts'
import { isObject, type Members } from '../read-members.ts'

export const codex: ConfigFormat = {
  client: 'Codex',
  read: (document, reading) => readEntries(document.inner('mcp_servers'), reading, (entry) => server(entry, reading)),
}

function server(entry: Members, reading: FormatContext): ServerDraft {
  const command = entry.text('command')
  const url = entry.text('url')
  const args = entry.texts('args')
  const env = entry.table('env')
  const cwd = entry.text('cwd')
  const headers = entry.table('http_headers')
  const headersFromEnv = entry.table('env_http_headers') ?? {}
  const bearer = entry.text('bearer_token_env_var')
  const passedOn = (entry.list('env_vars') ?? []).map((each) => variableName(each, entry.where))
  const isDisabled = negated(entry.flag('enabled'))
  const timeoutMs = readTimeout(entry, 'tool_timeout_sec', 1000)
  entry.pass(
    'startup_timeout_sec',
    'startup_timeout_ms',
    'enabled_tools',
    'disabled_tools',
    'required',
    'scopes',
    'supports_parallel_tool_calls',
  )
  for (const name of ['default_tools_approval_mode', 'tools']) {
    if (entry.has(name)) reading.problem(within(entry.where, name), APPROVALS_IGNORED)
  }
  const rest = { isDisabled, timeoutMs }
  if (command !== undefined && url !== undefined) throw new Refused(entry.where, BOTH_TRANSPORTS)
  if (command !== undefined) {
    const transport = stdioTransport(entry.where, { command, args, env, cwd }, literal)
    return {
      transport: {
        ...transport,
        env: { ...Object.fromEntries(passedOn.map((name) => [name, variable(name, entry.where)])), ...transport.env },
      },
      ...rest,
    }
  }
  if (url === undefined) throw new Refused(entry.where, 'The entry has neither a command nor a URL')
  const transport = httpTransport(entry.where, { url, headers }, literal)
  const fromEnv = Object.entries(headersFromEnv).map(([name, from]) => [name, variable(from, entry.where)])
  const authorization = bearer === undefined ? {} : { Authorization: `Bearer ${variable(bearer, entry.where)}` }
  return { transport: { ...transport, headers: { ...transport.headers, ...Object.fromEntries(fromEnv), ...authorization } }, ...rest }
}

/** `"NAME"`, or `{ name = "NAME" }`. */
function variableName(value: unknown, where: string): string {
  const name = isObject(value) ? value.name : value
  if (typeof name === 'string') return name
  throw new Refused(within(where, 'env_vars'), 'Expected names of environment variables')
}

function variable(name: string, where: string): string {
  if (!/^[A-Za-z_]\w{0,127}$/.test(name)) throw new Refused(where, 'Expected the name of an environment variable')
  return placeholderText({ kind: 'env', name })
}
