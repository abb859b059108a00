/**
 * What bundles for browsers and Workers contain in place of the modules that need Node (`scripts/node-imports.mjs`). Every use is an
 * error that names what to use there.
 */

import { McpError } from './errors.ts'

/** A function, because some of them are used with `new`. */
function unavailable(what: string, instead?: string): () => never {
  return function refuse(): never {
    const hint = instead === undefined ? '' : `; ${instead}`
    throw new McpError('ERR_UNSUPPORTED', `${what} needs Node, Bun or Deno, and this is a bundle for browsers or Workers${hint}`)
  }
}

export const listen = unavailable('listen()', 'use httpHandler() and its fetch')
export const processTarget = unavailable('Starting a server as a process', 'connect to a URL')
const store = unavailable('The option store', 'leave it out, and set sessions: false')

export { store as CallerValues, store as SharedLimits, store as SharedSessions, store as servicesOf }
export const ProcessMetrics = unavailable('Metrics of the process')
export const openFileStore = unavailable('fileTokenStore()', 'write a TokenStore of your own')
export const openKeychainStore = unavailable('keychainTokenStore()', 'write a TokenStore of your own')
export const openBrowser = unavailable('openBrowser()', 'open the page yourself')
export const openLoopback = unavailable('A login with a redirect to this machine', 'give oauth() a redirect of your own')
export const serveSkills = unavailable('server.skills(folder)', 'use server.resource() for each file')
export const TaskFiles = unavailable('fileTaskStore()', 'write a TaskStore of your own')
