/** Reads standard input to its end, up to a limit. */

import type { Readable } from 'node:stream'
import { McpError } from '../client/index.ts'

const MAX_INPUT_BYTES = 16 * 1024 * 1024

export async function readAll(stream: Readable, maxBytes = MAX_INPUT_BYTES): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array)
    size += bytes.length
    if (size > maxBytes) throw new McpError('ERR_LIMIT', `Standard input is longer than ${maxBytes} bytes (maxBytes)`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}
