/** Random secrets of which only the digest is kept, compared in constant time. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits as text for a URL, a cookie or a header. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** A digest has the same length for every text, which a comparison in constant time needs. */
export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** Takes the same time wherever the two differ. */
export const isSame = (digest: Buffer, given: Buffer): boolean => timingSafeEqual(digest, given)
