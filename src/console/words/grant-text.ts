/** Puts grants into one sentence each. */

import { type Grant, patternText } from '../../host/index.ts'
import type { ActionKind } from '../../host/policy-tools/index.ts'
import type { GrantView } from '../api.ts'

/** A grant with its sentence. @param now milliseconds since 1970 */
export function grantView(grant: Grant, now: number): GrantView {
  const { args } = grant.bind
  return {
    ...grant,
    text: grantText(grant),
    until: grant.expiresAt === undefined ? LASTING[grant.scope] : `until ${utcText(grant.expiresAt)}`,
    ...(args.kind === 'pattern' && { pattern: args.args }),
    isExpired: grant.expiresAt !== undefined && grant.expiresAt <= now,
  }
}

/** Without the time: pages show `until` beside it. */
function grantText({ action, usesLeft, bind }: Grant): string {
  const what = (VERBS[action] ?? ((name) => `do ${action}${name === '' ? '' : ` of ${name}`}`))(bind.primitive ?? '')
  const uses = usesLeft === undefined ? '' : `, ${usesLeft} more ${usesLeft === 1 ? 'time' : 'times'}`
  return `${bind.server} may ${what}${argumentText(bind.args, action)}${uses}`
}

const utcText = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

const LASTING: Readonly<Record<Grant['scope'], string>> = {
  once: 'once',
  turn: 'for this message',
  session: 'for this conversation',
  project: 'in this project, until you revoke it',
  always: 'until you revoke it',
}

const VERBS: Readonly<Partial<Record<ActionKind, (name: string) => string>>> = {
  'server.launch': () => 'be started, with the command and the files that you saw',
  'server.connect': () => 'be connected, at the address that you saw',
  'tool.call': (name) => `run ${name}`,
  'tool.result': (name) => `return what ${name} found`,
  'resource.read': (name) => `be asked for ${name}`,
  'resource.subscribe': (name) => `be watched for changes of ${name}`,
  'prompt.get': (name) => `be asked for the prompt ${name}`,
  'argument.complete': (name) => `complete arguments of ${name}`,
  'sampling.create': () => 'ask the model',
  'sampling.deliver': () => 'get the answer of the model',
  'roots.expose': () => 'see its folders',
}

function argumentText(args: Grant['bind']['args'], action: ActionKind): string {
  const hasArguments = action === 'tool.call' || action === 'prompt.get'
  if (args.kind === 'pattern') return ` if ${patternText(args.args).replaceAll('\n', ' and ')}`
  if (!hasArguments) return ''
  if (args.kind === 'any') return ' with any arguments'
  return args.shown === undefined ? ' with the arguments that you saw' : ` with exactly ${args.shown}`
}
