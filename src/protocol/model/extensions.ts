/** What extensions are called. */

import { McpError } from '../errors.ts'
import { readMetaKey } from './meta-key.ts'

/** An extension is named like metadata, but never without a prefix. Throws ERR_DEFINITION for any other name. */
export function checkExtensions(extensions: Record<string, unknown> | undefined): void {
  for (const id of Object.keys(extensions ?? {})) {
    const read = readMetaKey(id)
    if (!read.isValid || read.prefix === undefined || read.name === '') {
      throw new McpError('ERR_DEFINITION', `An extension is named like "com.example/feature", not ${JSON.stringify(id)}`)
    }
  }
}
