/** Loads the readers of configurations and policies on first use: their parsers take longer to load than the rest of the host. */

type ReadConfig = typeof import('./read-config.ts').readConfig
type ReadClientConfigs = typeof import('./read-client-configs.ts').readClientConfigs
type ReadPolicy = typeof import('../policy/policy-file.ts').readPolicy
type TestPolicy = typeof import('../policy-tools/policy-test.ts').testPolicy

/**
 * Reads one or several configuration files. The format is detected from the path and the content. Never rejects: everything that
 * cannot be read is listed in `problems`.
 */
export const readConfig: ReadConfig = async (...args) => (await import('./read-config.ts')).readConfig(...args)

/**
 * Reads the servers that other clients on this machine (VS Code, Claude, Cursor ...) have configured. Nothing is started or written.
 *
 * @example
 * const { servers, problems } = await readClientConfigs({ project: process.cwd() })
 */
export const readClientConfigs: ReadClientConfigs = async (...args) => (await import('./read-client-configs.ts')).readClientConfigs(...args)

/**
 * Reads a policy, one file per layer. ERR_CONFIG names the file, the rule, the position, the expected and the actual value.
 *
 * @example
 * const policy = await compilePolicy(await readPolicy({ user: 'policy.yaml' }))
 */
export const readPolicy: ReadPolicy = async (...args) => (await import('../policy/policy-file.ts')).readPolicy(...args)

/**
 * Runs the policy tests of a folder: YAML files with actions and their expected effects.
 *
 * @example
 * const results = await testPolicy(policy, 'policy-tests')
 */
export const testPolicy: TestPolicy = async (...args) => (await import('../policy-tools/policy-test.ts')).testPolicy(...args)
