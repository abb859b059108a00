/** Loads and compiles the policy of a host. */

import { basename, resolve } from 'node:path'
import { nearestRealPath } from '../../files/nearest-real-path.ts'
import { POLICY_LAYERS, type Policy, type PolicyLayer, type Preset, type Rule } from '../model/rule.ts'
import { type CompiledPolicy, compilePolicy } from './compile-policy.ts'
import { loadParser } from './load-parser.ts'

/** A file or the rules of each layer, a whole policy, or one file for the user's layer. */
export type GivenPolicy = string | Readonly<Partial<Record<PolicyLayer, string | readonly Rule[]>>> | Policy

export interface LoadPolicyOptions {
  policy?: GivenPolicy
  /** How much is asked where no rule decides. A policy file can name a stricter one. Default: balanced. */
  preset?: Preset
  /** Turns `ask` into `allow`; see `Policy.isBypassing`. */
  isBypassing?: boolean
  /** The folder that `${root:project}` stands for in a rule. Default: the working folder. */
  project?: string
  /** Folders that rules may name as `${root:NAME}`, by their own names. */
  roots?: readonly string[]
}

/**
 * Reads and compiles a policy: a file, or files or rules for each layer.
 * @throws McpError ERR_CONFIG that names the file, the rule, the place, the expected value and the value found
 * @example
 * const policy = await loadPolicy({ policy: { user: 'policy.yaml' } })
 */
export async function loadPolicy(options: LoadPolicyOptions): Promise<CompiledPolicy> {
  const { policy = {}, preset, isBypassing = false } = options
  const given =
    typeof policy === 'object' && 'layers' in policy
      ? policy
      : await layered(typeof policy === 'string' ? { user: policy } : policy, options)
  const presets = preset === undefined ? given.presets : { ...given.presets, session: preset }
  return compilePolicy({ ...given, ...(presets && { presets }), ...(isBypassing && { isBypassing }) })
}

type Layers = Readonly<Partial<Record<PolicyLayer, string | readonly Rule[]>>>

async function layered(given: Layers, options: LoadPolicyOptions): Promise<Policy> {
  const files: Partial<Record<PolicyLayer, string>> = {}
  const rules: Partial<Record<PolicyLayer, readonly Rule[]>> = {}
  for (const layer of POLICY_LAYERS) {
    const what = given[layer]
    if (typeof what === 'string') files[layer] = what
    else if (what) rules[layer] = what
  }
  const roots = await rootsByName(options)
  if (Object.keys(files).length === 0) return { layers: rules, roots }
  const { readPolicy } = await loadParser(() => import('./policy-file.ts'))
  const read = await readPolicy(files, roots)
  return { ...read, layers: { ...read.layers, ...rules } }
}

/**
 * The folders that `${root:NAME}` stands for in a rule. `project` is the project folder. Every other folder that may be shared with
 * servers is found under its base name.
 */
async function rootsByName({ project = process.cwd(), roots = [] }: LoadPolicyOptions): Promise<Record<string, string>> {
  const byName: Record<string, string> = {}
  for (const folder of [...roots, project]) {
    const real = await nearestRealPath(resolve(folder))
    if (real !== undefined) byName[folder === project ? 'project' : basename(real)] = real
  }
  return byName
}
