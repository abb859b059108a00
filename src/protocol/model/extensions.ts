/** Names of protocol extensions. */

import { McpError } from '../errors.ts'
import { readMetaKey } from './meta-key.ts'

/** Throws ERR_DEFINITION for a name that is not a metadata key with a prefix. */
export function checkExtensions(extensions: Record<string, unknown> | undefined): void {
  for (const id of Object.keys(extensions ?? {})) {
    const read = readMetaKey(id)
    if (!read.isValid || read.prefix === undefined || read.name === '') {
      throw new McpError('ERR_DEFINITION', `The name of an extension must look like "com.example/feature", not ${JSON.stringify(id)}`)
    }
  }
}
