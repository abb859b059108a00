/** Loads a reader of files on first use: the parsers load slower than the whole host, and are optional packages. */

import { McpError } from '../../protocol/errors.ts'

/** @throws McpError ERR_CONFIG that names the parser that is not installed */
export async function loadParser<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string }
    const [, name] = (code === 'ERR_MODULE_NOT_FOUND' && /Cannot find package '([^']+)'/.exec(message)) || []
    if (name === undefined) throw error
    throw new McpError('ERR_CONFIG', `Reading this file needs the package ${name}, which is not installed; run: npm install ${name}`, {
      cause: error,
    })
  }
}
