/** Questions of a server that was connected to by hand, put to the person at the terminal. */

import type { Answers } from '../../client/answers.ts'
import type { Invocation } from '../frame.ts'

/** Nothing is offered where there is nobody to ask. */
export async function personalAnswers(_invocation: Invocation): Promise<Answers> {
  return {}
}
