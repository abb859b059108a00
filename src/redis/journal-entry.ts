/** A recorded step as Redis keeps it. Handlers choose its name, so the name is sealed with the value, and the field is a digest. */

import { digestOf } from './keys.ts'

export const fieldOfStep = (name: string): string => digestOf(name)

export const stepText = (name: string, json: string): string => `${JSON.stringify(name)}\n${json}`

export function readStep(text: string): { name: string; json: string } {
  const end = text.indexOf('\n')
  return { name: JSON.parse(text.slice(0, end)) as string, json: text.slice(end + 1) }
}
