/** Puts the actions that a rule matches into words: `call delete_* of notes`. */

import type { Rule } from '../../host/policy-tools/index.ts'

/** How a sentence names the target of an action. */
type Form = 'server' | 'item' | 'request'

const WORDS: Readonly<Record<string, readonly [form: Form, verb: string, anyItem?: string]>> = {
  'server.launch': ['server', 'start'],
  'server.connect': ['server', 'connect to'],
  'server.approve': ['server', 'enable'],
  'tool.call': ['item', 'call', 'any tool'],
  'tool.result': ['item', 'use the results of', 'any tool'],
  'tool.*': ['item', 'call and use the results of', 'any tool'],
  'resource.read': ['item', 'read', 'any resource'],
  'resource.result': ['item', 'use the text of', 'any resource'],
  'resource.subscribe': ['item', 'follow', 'any resource'],
  'prompt.get': ['item', 'fill in', 'any prompt'],
  'prompt.result': ['item', 'use the text of', 'any prompt'],
  'argument.complete': ['item', 'complete arguments of', 'any tool, prompt or resource'],
  'app.open': ['item', 'open', 'any app'],
  'app.call': ['item', 'call from an app', 'any tool'],
  'app.message': ['request', 'send messages of an app of'],
  'sampling.create': ['request', 'ask a model for'],
  'sampling.deliver': ['request', 'send the answer of a model to'],
  'elicit.form': ['request', 'show a form of'],
  'elicit.url': ['request', 'open a page for'],
  'roots.expose': ['request', 'share folders with'],
  'task.cancel': ['request', 'cancel a task of'],
  'task.update': ['request', 'answer a task of'],
  'config.import': ['request', 'import'],
}

/** What a rule is about, as the end of a sentence that begins with its effect. */
export function actionText({ action, server, tool }: Rule['match']): string {
  const servers = server === undefined || server === '*' ? 'any server' : listed(server, 'or')
  const named = tool === undefined || tool === '*' ? undefined : listed(tool, 'or')
  const kinds = action === undefined ? [] : [action].flat().filter((kind) => kind !== '*')
  if (kinds.length === 0) return `do anything with ${named === undefined ? servers : `${named} of ${servers}`}`
  const parts = new Map<string, string[]>()
  for (const kind of kinds) {
    const [form, verb, anyItem = 'anything'] = WORDS[kind] ?? (['item', `do ${kind} with`, 'anything'] as const)
    const item = named ?? anyItem
    const target = form !== 'item' ? servers : servers === 'any server' ? item : `${item} of ${servers}`
    parts.set(target, [...(parts.get(target) ?? []), verb])
  }
  return [...parts].map(([target, verbs]) => `${listed(verbs, 'and')} ${target}`).join(', and ')
}

/** `a`, `a or b`, `a, b or c`. */
export function listed(value: string | readonly string[], word: 'and' | 'or'): string {
  const all = [value].flat()
  return all.length < 2 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} ${word} ${all.at(-1)}`
}
