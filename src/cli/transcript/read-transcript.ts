/** Reads the file of a recording. */

import { McpError } from '../../client/index.ts'
import { readAtMost, UnfitFile } from '../../files/plain-file.ts'
import { parseTranscript, type Transcript } from '../../testing/index.ts'

const MAX_TRANSCRIPT_BYTES = 256 * 1024 * 1024

/** @throws McpError ERR_CONFIG with the line number for an invalid recording, ERR_LIMIT for one that is too large */
export async function readTranscript(path: string, maxBytes = MAX_TRANSCRIPT_BYTES): Promise<Transcript> {
  const bytes = await readAtMost(path, maxBytes).catch((error: unknown) => {
    if (!(error instanceof UnfitFile)) throw error
    throw new McpError('ERR_LIMIT', `${path} is not a recording: ${error.message}`)
  })
  return parseTranscript(bytes.toString('utf8'), path)
}
