/** Says how to read the skills that a question is about: the question has their entries, not their texts. */

import type { Question } from '../../host/index.ts'
import { skillPath } from '../../skills/skill-uri.ts'
import { typedCommand } from '../command-name.ts'
import type { Io } from '../io.ts'

/** A server chooses the path, and a shell must not read anything else into it. */
const PLAIN_PATH = /^\w[\w./-]*$/

export function skillHint(io: Io, { subject, server }: Question): string | undefined {
  const skill = subject.kind === 'approve' ? subject.items.find(({ kind }) => kind === 'skill') : undefined
  if (!skill) return undefined
  const path = skillPath(skill.name)
  const words = PLAIN_PATH.test(path) ? `skills read ${server.id}/${path}` : `skills list ${server.id}`
  return `To read a skill before you answer, in another terminal: ${typedCommand(io, words)}`
}
