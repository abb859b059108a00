/** Readers for configuration files. Each loads its parser with the first call: the parsers load slower than the whole host. */

import type { ConfigPlace } from '../config/find-configs.ts'
import { loadParser } from '../policy/load-parser.ts'

type ReadConfig = typeof import('../config/read-config.ts').readConfig
type ReadClientConfigs = typeof import('../config/read-client-configs.ts').readClientConfigs
type ClientConfigPlaces = typeof import('../config/find-configs.ts').clientConfigPlaces

/**
 * Reads one or more files that list servers. The format of each file follows from its path and its contents. A file that
 * cannot be read is reported in `problems`; the promise does not reject for it.
 * @example
 * const { servers, problems } = await readConfig('.mcp.json', { project: process.cwd() })
 */
export const readConfig: ReadConfig = async (...args) => (await loadParser(() => import('../config/read-config.ts'))).readConfig(...args)

/**
 * Reads the server lists of the other MCP clients on this machine. It starts no server and writes no file.
 * @example
 * const { servers } = await readClientConfigs()
 */
export const readClientConfigs: ReadClientConfigs = async (...args) =>
  (await loadParser(() => import('../config/read-client-configs.ts'))).readClientConfigs(...args)

/**
 * The files in which the other MCP clients keep their servers, for the user and for a project. They need not exist.
 * @example
 * const places = await clientConfigPlaces({ project: process.cwd() })
 */
export const clientConfigPlaces = async (...args: Parameters<ClientConfigPlaces>): Promise<ConfigPlace[]> =>
  (await loadParser(() => import('../config/find-configs.ts'))).clientConfigPlaces(...args)
