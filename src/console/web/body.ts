/** Reads the body of a request as JSON, within a limit. */

import type { IncomingMessage } from 'node:http'
import { GatheredBytes } from '../../base/gathered-bytes.ts'
import { ApiError, invalid } from '../errors.ts'

/** Without a body: an empty object. @throws ApiError 400, 413, 415 */
export async function readJson(request: IncomingMessage, maxBodyBytes: number): Promise<unknown> {
  const { 'content-length': length, 'content-type': type, 'transfer-encoding': encoding } = request.headers
  if ((length === undefined || length === '0') && encoding === undefined) return {}
  // A page of another origin may send other types without asking first.
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? ''))
    throw new ApiError(415, 'ERR_MEDIA_TYPE', `Expected the header Content-Type: application/json, got ${JSON.stringify(type ?? '')}`)
  if (Number(length) > maxBodyBytes) throw tooLarge(maxBodyBytes)
  const bytes = new GatheredBytes()
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (bytes.size + chunk.length > maxBodyBytes) throw tooLarge(maxBodyBytes)
    bytes.add(chunk)
  }
  const text = Buffer.from(bytes.all).toString('utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`Expected JSON as the body: ${(error as Error).message}`)
  }
}

/** The rest of the body is not read, so the connection cannot be used again. */
const tooLarge = (maxBodyBytes: number): ApiError =>
  new ApiError(413, 'ERR_TOO_LARGE', `Expected a body of at most ${maxBodyBytes} bytes (maxBodyBytes)`, {
    headers: { connection: 'close' },
  })
