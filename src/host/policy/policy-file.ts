/** Reads policy files: one YAML or JSON file per layer, with `rules:` and perhaps `preset:` at the top. */

import { parseDocument } from 'yaml'
import { isObject } from '../../base/json.ts'
import { readPlainFile, UnfitFile } from '../../files/plain-file.ts'
import { McpError } from '../../protocol/errors.ts'
import { compile } from '../../protocol/schema/compile.ts'
import { patternSize } from '../../protocol/schema/foreign.ts'
import { describePath, type Issue } from '../../protocol/schema/json-schema.ts'
import { withDefaults } from '../../protocol/with-defaults.ts'
import { POLICY_LAYERS, type Policy, type PolicyLayer, type Preset, type Rule } from '../model/rule.ts'
import { compileRules } from './compile-policy.ts'
import { durationMs } from './duration.ts'
import { DEFAULT_POLICY_LIMITS, type PolicyLimits, policySchema } from './policy-schema.ts'

export interface PolicyFileOptions {
  limits?: Partial<PolicyLimits>
}

/** The mistakes that one error lists. It only counts the others. */
const MAX_MISTAKES = 20

/**
 * Reads the policy files. A missing file is a layer without rules. An unreadable or invalid file is an error, not an empty layer.
 * @throws McpError ERR_CONFIG that names the file, the rule, the position, the expected and the actual value
 */
export async function readPolicy(
  files: Readonly<Partial<Record<PolicyLayer, string>>>,
  roots: Policy['roots'] = {},
  options: PolicyFileOptions = {},
): Promise<Policy> {
  const layers: Partial<Record<PolicyLayer, readonly Rule[]>> = {}
  const presets: Partial<Record<PolicyLayer, Preset>> = {}
  for (const layer of POLICY_LAYERS) {
    const file = files[layer]
    const text = file === undefined ? undefined : await readBounded(file, withDefaults(DEFAULT_POLICY_LIMITS, options.limits).maxFileBytes)
    if (file === undefined || text === undefined) continue
    const { rules, preset } = parsePolicy(text, file, options)
    layers[layer] = rules
    if (preset !== undefined) presets[layer] = preset
  }
  return { layers, presets, roots }
}

/** Parses the rules of one file. @param where the file, for errors */
export const parseRules = (text: string, where: string, options: PolicyFileOptions = {}): Rule[] => parsePolicy(text, where, options).rules

/** Parses one file: its rules, and the preset that it names. @param where the file, for errors */
export function parsePolicy(text: string, where: string, { limits }: PolicyFileOptions = {}): { rules: Rule[]; preset?: Preset } {
  const bounds = withDefaults(DEFAULT_POLICY_LIMITS, limits)
  const value = parseYaml(text, where)
  const checked = compile(policySchema(bounds))(value)
  if (!checked.ok)
    throw policyError(
      where,
      checked.issues.map((issue) => describe(issue, value)),
    )
  const { rules, preset } = value as { rules: Rule[]; preset?: Preset }
  checkExpressions(rules, where)
  const mistakes = [...findDuplicates(rules), ...rules.flatMap(findCompileErrors)]
  if (mistakes.length > 0) throw policyError(where, mistakes)
  return { rules, ...(preset !== undefined && { preset }) }
}

/** Parses YAML 1.2, which includes JSON. @throws McpError ERR_CONFIG with line and column */
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

/** Reads a file of limited size. Undefined: the file does not exist. @throws McpError ERR_CONFIG */
export async function readBounded(file: string, maxBytes: number): Promise<string | undefined> {
  try {
    // Only a regular file: a project may have put a device or a pipe there.
    return (await readPlainFile(file, maxBytes, 'maxFileBytes')).toString('utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (cause instanceof UnfitFile && cause.reason === 'too-large')
      throw new McpError('ERR_CONFIG', `${file}: expected at most ${maxBytes} bytes (maxFileBytes), got more`, { cause })
    throw new McpError('ERR_CONFIG', `${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

/** Puts the id of the rule, which people search for, before the position. */
function describe({ path, message }: Issue, value: unknown): string {
  const [first, index] = path
  const rule = first === 'rules' && isObject(value) && Array.isArray(value.rules) ? value.rules[Number(index)] : undefined
  const id = isObject(rule) && typeof rule.id === 'string' ? `rule ${JSON.stringify(rule.id)}, ` : ''
  return path.length === 0 ? message : `${id}${describePath(path)}: ${message}`
}

function findDuplicates(rules: readonly Rule[]): string[] {
  const seen = new Set<string>()
  return rules.flatMap(({ id }, index) => {
    const isNew = !seen.has(id)
    seen.add(id)
    return isNew ? [] : [`rule ${JSON.stringify(id)}, rules[${index}].id: expected a unique id, got the id of another rule`]
  })
}

/** Maximum size of all expressions of a file together, with their repetitions expanded. A project must not delay every command. */
const MAX_EXPRESSIONS_SIZE = 100_000

/** @throws McpError ERR_CONFIG before anything is compiled */
function checkExpressions(rules: readonly Rule[], where: string): void {
  let size = 0
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each)
    if (!isObject(value)) return
    for (const [name, each] of Object.entries(value)) {
      if (typeof each === 'string' && (name === 're2' || name === 'pattern')) size += patternSize(each)
      else if (name === 'patternProperties' && isObject(each)) for (const source of Object.keys(each)) size += patternSize(source)
      visit(each)
    }
  }
  for (const { args } of rules) visit(args)
  if (size > MAX_EXPRESSIONS_SIZE) {
    const text = `the expressions are too large together: expected at most ${MAX_EXPRESSIONS_SIZE} with their repetitions expanded, got ${size}`
    throw policyError(where, [text])
  }
}

/** Finds errors that the schema cannot see, by compiling the rule. */
function findCompileErrors(rule: Rule): string[] {
  try {
    compileRules({ layers: { user: [rule] }, roots: {} })
    if (rule.grant?.ttl !== undefined) durationMs(rule.grant.ttl)
    return []
  } catch (error) {
    const { cause, message } = error as Error
    return [`rule ${JSON.stringify(rule.id)}: ${cause instanceof Error ? cause.message : message}`]
  }
}

function policyError(where: string, mistakes: readonly string[]): McpError {
  const shown = mistakes.slice(0, MAX_MISTAKES)
  if (mistakes.length > MAX_MISTAKES) shown.push(`and ${mistakes.length - MAX_MISTAKES} more`)
  return new McpError('ERR_CONFIG', `${where}: ${shown.join('; ')}`, { data: { file: where, mistakes: shown } })
}
