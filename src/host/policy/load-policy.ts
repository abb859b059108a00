/** Loads the policy of a host from the option `policy`: a file, files or rules per layer, or a policy object. */

import { basename, resolve } from 'node:path'
import { nearestRealPath } from '../../files/nearest-real-path.ts'
import { readPolicy } from '../config/lazy-readers.ts'
import { POLICY_LAYERS, type Policy, type PolicyLayer, type Rule } from '../model/rule.ts'
import type { HostOptions } from '../options.ts'
import { type CompiledPolicy, compilePolicy } from './compile-policy.ts'

/** @throws McpError ERR_CONFIG that names the file, the rule, the position, the expected and the actual value */
export async function loadPolicy(options: HostOptions): Promise<CompiledPolicy> {
  const { policy = {}, isBypassing = false } = options
  const given =
    typeof policy === 'object' && 'layers' in policy
      ? policy
      : await layered(typeof policy === 'string' ? { user: policy } : policy, options)
  return compilePolicy(isBypassing ? { ...given, isBypassing } : given)
}

type Layers = Readonly<Partial<Record<PolicyLayer, string | readonly Rule[]>>>

async function layered(given: Layers, options: HostOptions): Promise<Policy> {
  const files: Partial<Record<PolicyLayer, string>> = {}
  const rules: Partial<Record<PolicyLayer, readonly Rule[]>> = {}
  for (const layer of POLICY_LAYERS) {
    const what = given[layer]
    if (typeof what === 'string') files[layer] = what
    else if (what) rules[layer] = what
  }
  const roots = await rootsByName(options)
  if (Object.keys(files).length === 0) return { layers: rules, roots }
  const read = await readPolicy(files, roots)
  return { ...read, layers: { ...read.layers, ...rules } }
}

/** The values of `${root:NAME}` in rules: `project`, and each folder of the option `roots` by its base name. */
async function rootsByName({ project = process.cwd(), roots = [] }: HostOptions): Promise<Record<string, string>> {
  const byName: Record<string, string> = {}
  for (const folder of [...roots, project]) {
    const real = await nearestRealPath(resolve(folder))
    if (real !== undefined) byName[folder === project ? 'project' : basename(real)] = real
  }
  return byName
}
