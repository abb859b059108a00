/** Adds, replaces and removes a rule in the text of a policy file. Other rules and comments stay as they are. */

import { isMap, isSeq, parseDocument } from 'yaml'
import type { Rule } from '../model/rule.ts'
import { parseRules } from './policy-file.ts'

/**
 * @param rule undefined: the rule with this id is removed
 * @param where the file, for errors
 * @returns undefined if nothing changes
 * @throws McpError ERR_CONFIG if the text is not a valid policy
 */
export function withRule(text: string, id: string, rule: Omit<Rule, 'id'> | undefined, where: string): string | undefined {
  const before = text.trim() === '' ? 'rules: []\n' : text
  // An invalid file stays as it is: the person must see their mistake.
  parseRules(before, where)
  const document = parseDocument(before)
  const rules = document.get('rules')
  if (!isSeq(rules)) return undefined
  const at = rules.items.findIndex((item) => isMap(item) && item.get('id') === id)
  if (rule === undefined && at === -1) return undefined
  if (rule === undefined) rules.delete(at)
  else {
    const node = document.createNode({ id, ...rule })
    // An empty list is written as [], which would put the rule into the same line.
    if (rules.items.length === 0) rules.flow = false
    if (at === -1) rules.add(node)
    else rules.set(at, node)
  }
  if (rules.items.length === 0) rules.flow = true
  return String(document)
}
