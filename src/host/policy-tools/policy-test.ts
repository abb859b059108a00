/** Runs policy tests: a folder of YAML files with actions and their expected decisions. */

import { readdir } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { McpError } from '../../protocol/errors.ts'
import { decide } from '../consent/decide.ts'
import { pathPointers } from '../consent/path-pointers.ts'
import type { Action } from '../model/action.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { valueAt } from '../policy/pointer.ts'
import { readBounded } from '../policy/policy-file.ts'
import { DEFAULT_POLICY_LIMITS } from '../policy/policy-schema.ts'
import { explain } from './explain.ts'
import { parseCases } from './parse-cases.ts'
import { completeAction, type PolicyCase } from './policy-case.ts'

export interface CaseResult {
  file: string
  name: string
  isAsExpected: boolean
  expected: string
  got: string
  /** The explanation of the decision, if it is not as expected. */
  explanation?: string
}

/** A folder with more files was probably given by mistake. */
const MAX_FILES = 1_000

/** Runs all cases in the files of a folder. @throws McpError ERR_CONFIG for an unusable folder or file */
export async function testPolicy(policy: CompiledPolicy, folder: string): Promise<CaseResult[]> {
  const files = (await listFolder(folder)).filter((name) => /\.(?:ya?ml|json)$/.test(name)).sort()
  if (files.length === 0) throw new McpError('ERR_CONFIG', `${folder}: expected files with cases (.yaml, .yml or .json), found none`)
  if (files.length > MAX_FILES) throw new McpError('ERR_CONFIG', `${folder}: expected at most ${MAX_FILES} files, got ${files.length}`)
  const results: CaseResult[] = []
  for (const file of files) {
    const cases = parseCases((await readBounded(join(folder, file), DEFAULT_POLICY_LIMITS.maxFileBytes)) ?? '', file)
    results.push(...cases.map((each) => runCase(policy, each, file)))
  }
  return results
}

async function listFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    throw new McpError('ERR_CONFIG', `${folder} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

function runCase(policy: CompiledPolicy, { name, action, expect, because }: PolicyCase, file: string): CaseResult {
  const given = withPlainPaths(policy, completeAction(action))
  const { effect, reasons } = decide(policy, given, [])
  const decisive = reasons.filter((reason) => reason.effect === effect).map(({ id }) => id)
  const isAsExpected = effect === expect && (because === undefined || decisive.includes(because))
  return {
    file,
    name,
    isAsExpected,
    expected: because === undefined ? expect : `${expect} because of ${because}`,
    got: because === undefined ? effect : `${effect} because of ${decisive.join(', ')}`,
    ...(isAsExpected ? {} : { explanation: explain(policy, given, []).text }),
  }
}

/** Does no I/O: unless the case gives a real path, each absolute path counts as its own real path. */
function withPlainPaths(policy: CompiledPolicy, action: Action): Action {
  const plain = pathPointers(policy, action)
    .map((pointer) => [pointer, valueAt(action.args, pointer)] as const)
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string' && isAbsolute(entry[1]))
  return { ...action, realPaths: { ...Object.fromEntries(plain), ...action.realPaths } }
}
