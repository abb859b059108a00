/** Readers for policy files and their tests. Each loads its parser with the first call: the parsers load slower than the whole host. */

import { loadParser } from '../policy/load-parser.ts'

type WritePreset = typeof import('../policy/write-preset.ts').writePreset
type TestPolicy = typeof import('./policy-test.ts').testPolicy

/**
 * Writes the preset into a policy file. Rules and comments stay as they are.
 * @throws McpError ERR_CONFIG if the file cannot be read or is not a valid policy
 * @example
 * await writePreset('policy.yaml', 'cautious')
 */
export const writePreset: WritePreset = async (...args) =>
  (await loadParser(() => import('../policy/write-preset.ts'))).writePreset(...args)

/**
 * Compares a policy with the test cases (actions and their expected effects) in the YAML files of a folder.
 * @example
 * const results = await testPolicy(policy, 'policy-tests')
 */
export const testPolicy: TestPolicy = async (...args) => (await loadParser(() => import('./policy-test.ts'))).testPolicy(...args)
