/** The short name of the reason of a refusal, the same in records and in metrics. */

import type { Refusal } from './refusal.ts'

export const kindOfRefusal = ({ status, kind, limit }: Pick<Refusal, 'status' | 'kind' | 'limit'>): string =>
  kind ?? (limit === undefined ? (KINDS[status] ?? 'other') : 'limit')

/** The reasons of refusals whose status says enough. */
const KINDS: Readonly<Record<number, string>> = {
  0: 'stream_cut',
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'session_not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  408: 'too_slow',
  409: 'second_stream',
  413: 'too_large',
  415: 'media_type',
  429: 'too_many_requests',
  431: 'too_many_headers',
}
