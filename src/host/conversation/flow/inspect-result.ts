/** Searches a result for anything suspicious before a person or a model sees it. */

import { isObject } from '../../../base/json.ts'
import { ACTIVE_TAG } from '../../../base/text/inert-text.ts'
import { INJECTIONS } from '../../../base/text/injections.ts'
import { countSecrets } from '../../../base/text/redact.ts'
import { hasInvisible, visibleText } from '../../../base/text/visible-text.ts'
import type { CallToolResult } from '../../../protocol/model/tools.ts'
import { withDefaults } from '../../../protocol/with-defaults.ts'
import type { Finding } from '../../model/question.ts'
import { DEFAULT_RESULT_LIMITS, describeLimit, jsonBytes, type ResultLimits } from './cap-result.ts'
import { jsonTexts } from './json-texts.ts'

const MAX_HOSTS = 20
const EXCERPT_LENGTH = 120

/** Lists findings that a person should know before the result is used. A result without findings is not proved harmless. */
export function inspectResult(result: CallToolResult, limits: Partial<ResultLimits> = {}): Finding[] {
  const { maxBytes, maxSearched } = withDefaults(DEFAULT_RESULT_LIMITS, limits)
  const findings: Finding[] = []
  const bytes = jsonBytes(result.content) + jsonBytes(result.structuredContent)
  if (bytes > maxBytes) findings.push({ kind: 'too-large', text: `it has ${bytes} bytes; the limit is ${describeLimit(maxBytes)}` })
  const text = searched(result, maxSearched)
  const secrets = countSecrets(text)
  if (secrets > 0)
    findings.push({ kind: 'secret', text: `${secrets} ${secrets === 1 ? 'place looks' : 'places look'} like a password, a key or a token` })
  for (const { what, pattern } of INJECTIONS) {
    const match = pattern.exec(text)
    if (match) findings.push({ kind: 'injection', text: `${what}: ${excerptOf(match[0])}` })
  }
  if (hasInvisible(text)) findings.push({ kind: 'injection', text: 'it has invisible characters, which a model can read' })
  const hosts = new Set([...text.matchAll(LINK_HOST)].map(([, host = '']) => host.toLowerCase()))
  if (hosts.size > 0) findings.push({ kind: 'remote-content', text: `it has links to or images from ${listed(hosts)}` })
  const tags = new Set([...text.matchAll(ACTIVE_TAG)].map(([, tag = '']) => tag.toLowerCase()))
  if (tags.size > 0) findings.push({ kind: 'remote-content', text: `it has HTML that loads or runs something: ${listed(tags)}` })
  return findings
}

const LINK_HOST = /\]\(\s{0,8}<?(?:https?:)?\/\/([^\s/)>"'\\]{1,253})/gi

function searched(result: CallToolResult, maxSearched: number): string {
  const texts: string[] = []
  let left = maxSearched
  const take = (text: string): void => {
    if (left > 0) texts.push(text.slice(0, left))
    left -= text.length
  }
  for (const block of result.content) {
    if (!isObject(block)) continue
    // Binary data is skipped: base64 often looks like a key.
    const { data: _data, blob: _blob, ...rest } = { ...block, ...(block.type === 'resource' && block.resource) } as Record<string, unknown>
    for (const { text } of jsonTexts(rest)) take(text)
  }
  for (const { text } of jsonTexts(result.structuredContent)) take(text)
  return texts.join('\n')
}

const excerptOf = (text: string): string => visibleText(text.length > EXCERPT_LENGTH ? `${text.slice(0, EXCERPT_LENGTH)}…` : text)

function listed(names: ReadonlySet<string>): string {
  const shown = [...names].slice(0, MAX_HOSTS).map((name) => visibleText(name))
  return names.size > MAX_HOSTS ? `${shown.join(', ')} and ${names.size - MAX_HOSTS} more` : shown.join(', ')
}
