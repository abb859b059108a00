/** Reads standard input to its end, up to a limit. */

import type { Readable } from 'node:stream'
import { GatheredBytes } from '../base/gathered-bytes.ts'
import { McpError } from '../client/index.ts'

const MAX_INPUT_BYTES = 16 * 1024 * 1024

export async function readAll(stream: Readable, maxBytes = MAX_INPUT_BYTES): Promise<string> {
  const bytes = new GatheredBytes()
  for await (const chunk of stream) {
    bytes.add(Buffer.from(chunk as Uint8Array))
    if (bytes.size > maxBytes) throw new McpError('ERR_LIMIT', `Standard input is longer than ${maxBytes} bytes (maxBytes)`)
  }
  return Buffer.from(bytes.all).toString('utf8')
}
