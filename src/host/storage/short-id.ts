/** Ids that people type. */

import { randomBytes } from 'node:crypto'

/** Letters and digits that are easy to tell apart and to type. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

export const SHORT_ID = /^[a-z0-9]{10}$/

export const shortId = (): string => Array.from(randomBytes(10), (byte) => LETTERS[byte % LETTERS.length]).join('')
