/** Loads optional packages. */

import { McpError } from '../../protocol/errors.ts'

/** Throws ERR_MODEL, with the install command, if the package is not installed. */
export async function optionalPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND'
    const advice = isMissing ? `is not installed; run: npm install ${name}` : 'could not be loaded'
    throw new McpError('ERR_MODEL', `The package ${name} ${advice}`, { cause: error })
  }
}
