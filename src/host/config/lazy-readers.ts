/** Reading what people wrote: configurations and policies. The parsers take longer to load than all of the host, so they wait for the first file. */

type ReadConfig = typeof import('./read.ts').readConfig
type ReadClientConfigs = typeof import('./import.ts').readClientConfigs
type ReadPolicy = typeof import('../policy/policy-file.ts').readPolicy
type TestPolicy = typeof import('../policy-tools/policy-test.ts').testPolicy

/** Reads one configuration file or several; what kind each is follows from where it is and what is in it. Never fails: what cannot be read is a problem. */
export const readConfig: ReadConfig = async (...args) => (await import('./read.ts')).readConfig(...args)

/** Everything that the other clients on this machine have configured. Nothing is started, and nothing is written. */
export const readClientConfigs: ReadClientConfigs = async (...args) => (await import('./import.ts')).readClientConfigs(...args)

/** A file for each layer. ERR_CONFIG names file, rule, place, what was expected and what is there. */
export const readPolicy: ReadPolicy = async (...args) => (await import('../policy/policy-file.ts')).readPolicy(...args)

/** Actions and the effects expected of them, from the YAML files of a folder, against a policy. */
export const testPolicy: TestPolicy = async (...args) => (await import('../policy-tools/policy-test.ts')).testPolicy(...args)
