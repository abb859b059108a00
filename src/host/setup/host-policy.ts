/** The policy in force: read, try out, write and replace it. */

import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { privateFolder, writePrivate } from '../../files/private-file.ts'
import { McpError } from '../../protocol/errors.ts'
import type { Preset, Rule } from '../model/rule.ts'
import { type CompiledPolicy, compilePolicy } from '../policy/compile-policy.ts'
import { loadParser } from '../policy/load-parser.ts'
import { type GivenPolicy, type LoadPolicyOptions, loadPolicy } from '../policy/load-policy.ts'
import { versionsOf } from './policy-versions.ts'

/** The text of the user's policy file. */
export interface PolicyText {
  /** Empty if the file does not exist. */
  text: string
  /** Changes with the text. */
  hash: string
}

/** The policy of a host. `host.policy` returns it. */
export interface HostPolicy {
  /** The file with the rules of the user. Undefined: the host was given their rules, or none. */
  readonly file: string | undefined
  /**
   * The policy in force.
   * @example
   * const { preset } = host.policy.current()
   */
  current(): CompiledPolicy
  /** Replaces the policy for all later decisions, also about questions that are open. */
  replace(policy: GivenPolicy): Promise<void>
  /** Reads the policy files again if they changed. Every decision does it. */
  refresh(): Promise<void>
  /**
   * The policy in force with this text in place of the user's file. Nothing changes.
   * @throws McpError ERR_CONFIG with every mistake
   * @example
   * const findings = lintPolicy(await host.policy.draft(text))
   */
  draft(text: string): Promise<CompiledPolicy>
  /** @throws McpError ERR_CONFIG if there is no file, or it cannot be read */
  read(): Promise<PolicyText>
  /**
   * Checks the text, writes it to the user's file and uses it.
   * @param hash of the text that was changed. If the file has another one, nothing is written.
   * @throws McpError ERR_CONFIG with every mistake, ERR_STORE if the file was changed meanwhile
   * @example
   * const { text, hash } = await host.policy.read()
   * await host.policy.write(`${text}\npreset: cautious\n`, hash)
   */
  write(text: string, hash?: string): Promise<void>
  /** Writes the preset to the user's file and uses it. Rules and comments stay as they are. */
  usePreset(preset: Preset): Promise<void>
  /**
   * Writes a rule to the user's file and uses it, or removes it. It replaces the rule with the same id. Other rules and comments stay as
   * they are.
   * @throws McpError ERR_CONFIG if there is no file or it is invalid, ERR_STORE if the file was changed meanwhile
   * @example
   * await host.policy.setRule('no-drop', { effect: 'deny', match: { tool: 'drop_*' } })
   * await host.policy.setRule('no-drop', undefined)
   */
  setRule(id: string, rule: Omit<Rule, 'id'> | undefined): Promise<void>
}

/** The commands use this file of the host folder. A program that gives no policy does not, and its author may think that it does. */
export async function warnAboutUnusedPolicy(file: string, warn: (text: string) => void): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (found) warn(`The rules of ${file} do not apply to this program. To use them, give createHost({ policy: ${JSON.stringify(file)} })`)
}

/**
 * Opens the policy of a host. `portico policy use` and editors change the files while a host runs, so each decision looks whether they
 * changed. A file that became invalid keeps the former rules in force.
 * @param warn is called once for each version of a file that cannot be read
 */
export async function openPolicy(options: LoadPolicyOptions, warn: (text: string) => void): Promise<HostPolicy> {
  let given = options.policy
  let seen = await versionsOf(given)
  let current = await loadPolicy(options)
  let refreshing = Promise.resolve()
  const refreshNow = async (): Promise<void> => {
    const policy = given
    const found = await versionsOf(policy)
    if (found === seen || policy !== given) return
    seen = found
    try {
      const loaded = await loadPolicy({ ...options, ...(policy !== undefined && { policy }) })
      if (policy === given) current = loaded
    } catch (error) {
      warn(`The policy was changed and cannot be read, so the former rules stay in force: ${(error as Error).message}`)
    }
  }
  const replace = async (policy: GivenPolicy): Promise<void> => {
    const versions = await versionsOf(policy)
    current = await loadPolicy({ ...options, policy })
    given = policy
    seen = versions
  }
  const file = (): string => {
    const found = userFile(given)
    if (found === undefined) throw new McpError('ERR_CONFIG', 'This host has no policy file of the user')
    return found
  }
  const draft = async (text: string): Promise<CompiledPolicy> => {
    const { parsePolicy } = await loadParser(() => import('../policy/policy-file.ts'))
    const { rules, preset } = parsePolicy(text, 'draft')
    const { layers, presets = {}, ...rest } = current.policy
    const { user: _, ...others } = presets
    return compilePolicy({
      ...rest,
      layers: { ...layers, user: rules },
      presets: { ...others, ...(preset !== undefined && { user: preset }) },
    })
  }
  const read = async (): Promise<PolicyText> => {
    const { readBounded } = await loadParser(() => import('../policy/policy-file.ts'))
    const { DEFAULT_POLICY_LIMITS } = await import('../policy/policy-schema.ts')
    const text = (await readBounded(file(), DEFAULT_POLICY_LIMITS.maxFileBytes)) ?? ''
    return { text, hash: hashOf(text) }
  }
  const reload = (): Promise<void> => replace(given ?? {})
  const write = async (text: string, hash?: string): Promise<void> => {
    const target = file()
    await draft(text)
    if (hash !== undefined && (await read()).hash !== hash)
      throw new McpError('ERR_STORE', `${target} was changed by another program: read it again`)
    await privateFolder(dirname(target))
    await writePrivate(target, Buffer.from(text))
    await reload()
  }
  return {
    get file() {
      return userFile(given)
    },
    current: () => current,
    replace,
    refresh: () => {
      // One after the other, so that an older version never replaces a newer one.
      refreshing = refreshing.then(refreshNow)
      return refreshing
    },
    draft,
    read,
    write,
    usePreset: async (preset) => {
      const { writePreset } = await loadParser(() => import('../policy/write-preset.ts'))
      await writePreset(file(), preset)
      await reload()
    },
    setRule: async (id, rule) => {
      const { withRule } = await loadParser(() => import('../policy/write-rule.ts'))
      const { text, hash } = await read()
      const next = withRule(text, id, rule, file())
      if (next !== undefined) await write(next, hash)
    },
  }
}

function userFile(given: GivenPolicy | undefined): string | undefined {
  if (typeof given === 'string') return given
  if (given === undefined || 'layers' in given) return undefined
  return typeof given.user === 'string' ? given.user : undefined
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
