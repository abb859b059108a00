/** What a grant for one exact call remembers of its arguments. */

import { digestOf } from '../model/digest.ts'

export const argumentsDigest = (args: Readonly<Record<string, unknown>>): string => digestOf(args)
