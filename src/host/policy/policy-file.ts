/** Policies as people write them: a YAML or JSON file for each layer, with `rules:` at the top. */

import { parseDocument } from 'yaml'
import { isObject } from '../../base/json.ts'
import { readPlainFile, UnfitFile } from '../../files/plain-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { compile } from '../../protocol/schema/compile.ts'
import { describePath, type Issue } from '../../protocol/schema/json-schema.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { POLICY_LAYERS, type Policy, type PolicyLayer, type Rule } from '../model/rule.ts'
import { compileRules } from './compile-policy.ts'
import { durationMs } from './duration.ts'
import { DEFAULT_POLICY_LIMITS, type PolicyLimits, policySchema } from './policy-schema.ts'

export interface PolicyFileOptions {
  limits?: Partial<PolicyLimits>
}

/** More mistakes than this are mended in a second round. */
const MAX_MISTAKES = 20

/**
 * A layer whose file is not there has no rules; a file that cannot be read or used is an error, not an empty one.
 * @throws McpError ERR_CONFIG that names file, rule, place, what was expected and what is there
 */
export async function readPolicy(
  files: Readonly<Partial<Record<PolicyLayer, string>>>,
  roots: Policy['roots'] = {},
  options: PolicyFileOptions = {},
): Promise<Policy> {
  const layers: Partial<Record<PolicyLayer, readonly Rule[]>> = {}
  for (const layer of POLICY_LAYERS) {
    const file = files[layer]
    const text = file === undefined ? undefined : await readBounded(file, withDefaults(DEFAULT_POLICY_LIMITS, options.limits).maxFileBytes)
    if (file !== undefined && text !== undefined) layers[layer] = parseRules(text, file, options)
  }
  return { layers, roots }
}

/** @param where the file, for errors */
export function parseRules(text: string, where: string, { limits }: PolicyFileOptions = {}): Rule[] {
  const bounds = withDefaults(DEFAULT_POLICY_LIMITS, limits)
  const value = parseYaml(text, where)
  const checked = compile(policySchema(bounds))(value)
  if (!checked.ok)
    throw mistakesIn(
      where,
      checked.issues.map((issue) => describe(issue, value)),
    )
  const { rules } = value as { rules: Rule[] }
  const mistakes = [...duplicates(rules), ...rules.flatMap(meaningless)]
  if (mistakes.length > 0) throw mistakesIn(where, mistakes)
  return rules
}

/** YAML 1.2, of which JSON is a part. @throws McpError ERR_CONFIG with line and column */
export function parseYaml(text: string, where: string): unknown {
  const document = parseDocument(text, { prettyErrors: true })
  const [error] = document.errors
  if (error) throw new McpError('ERR_CONFIG', `${where}: ${error.message}`, { cause: error })
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (cause) {
    throw new McpError('ERR_CONFIG', `${where}: ${(cause as Error).message}`, { cause })
  }
}

/** Undefined when there is none. @throws McpError ERR_CONFIG */
export async function readBounded(file: string, maxBytes: number): Promise<string | undefined> {
  try {
    // A project may have put anything there: a device, a pipe, a link to either.
    return (await readPlainFile(file, maxBytes, 'maxFileBytes')).toString('utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (cause instanceof UnfitFile && cause.reason === 'too-large')
      throw new McpError('ERR_CONFIG', `${file}: expected at most ${maxBytes} bytes (maxFileBytes), got more`, { cause })
    throw new McpError('ERR_CONFIG', `${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

/** With the id of the rule, which people look for, before the place, which programs look for. */
function describe({ path, message }: Issue, value: unknown): string {
  const [first, index] = path
  const rule = first === 'rules' && isObject(value) && Array.isArray(value.rules) ? value.rules[Number(index)] : undefined
  const id = isObject(rule) && typeof rule.id === 'string' ? `rule ${JSON.stringify(rule.id)}, ` : ''
  return path.length === 0 ? message : `${id}${describePath(path)}: ${message}`
}

function duplicates(rules: readonly Rule[]): string[] {
  const seen = new Set<string>()
  return rules.flatMap(({ id }, index) => {
    const isNew = !seen.has(id)
    seen.add(id)
    return isNew ? [] : [`rule ${JSON.stringify(id)}, rules[${index}].id: expected an id of its own, got one that another rule has`]
  })
}

/** Of the right shape, and yet not to be compiled. */
function meaningless(rule: Rule): string[] {
  try {
    compileRules({ layers: { user: [rule] }, roots: {} })
    if (rule.grant?.ttl !== undefined) durationMs(rule.grant.ttl)
    return []
  } catch (error) {
    const { cause, message } = error as Error
    return [`rule ${JSON.stringify(rule.id)}: ${cause instanceof Error ? cause.message : message}`]
  }
}

function mistakesIn(where: string, mistakes: readonly string[]): McpError {
  const shown = mistakes.slice(0, MAX_MISTAKES)
  if (mistakes.length > MAX_MISTAKES) shown.push(`and ${mistakes.length - MAX_MISTAKES} more`)
  return new McpError('ERR_CONFIG', `${where}: ${shown.join('; ')}`, { data: { file: where, mistakes: shown } })
}
