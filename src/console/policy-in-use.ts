/** The policy of the host, and drafts of another one. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CompiledPolicy, type HostOptions, loadPolicy, McpError } from '../host/index.ts'

/** The options of the host that decide about its policy. */
export type PolicyOptions = Pick<HostOptions, 'policy' | 'isBypassing' | 'project' | 'roots'>

export interface PolicyInUse {
  readonly current: CompiledPolicy
  /** The policy with these rules of the user. @param text a policy file. Undefined: the policy in use. @throws McpError ERR_CONFIG */
  withDraft(text: string | undefined): Promise<CompiledPolicy>
}

export async function policyInUse(options: PolicyOptions): Promise<PolicyInUse> {
  const current = await loadPolicy(options)
  return {
    current,
    withDraft: (text) =>
      text === undefined
        ? Promise.resolve(current)
        : withFile(text, (file) => loadPolicy({ ...options, policy: { ...current.policy.layers, user: file } })),
  }
}

/** The host reads policies from files only, and its errors name the file. */
async function withFile<T>(text: string, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-draft-'))
  const file = join(folder, 'draft.yaml')
  try {
    await writeFile(file, text, { mode: 0o600 })
    return await use(file)
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    throw new McpError(error.code, error.message.replaceAll(file, 'draft'), { data: error.data, cause: error })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
