/** Loads optional packages. */

import { McpError } from '../../protocol/errors.ts'

/**
 * How to install an optional package. In a clone of Portico npm does not install its optional peers unless they are named as
 * development packages.
 */
export const installCommand = (name: string, from: string = import.meta.url): string =>
  `npm install ${from.includes('/node_modules/') ? '' : '--no-save --save-dev '}${name}`

/** Throws ERR_MODEL, with the install command, if the package is not installed. */
export async function optionalPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND'
    const advice = isMissing ? `is not installed; run: ${installCommand(name)}` : 'could not be loaded'
    throw new McpError('ERR_MODEL', `The package ${name} ${advice}`, { cause: error })
  }
}
