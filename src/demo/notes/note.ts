/** The format of a note, and of the journal entries that change notes. */

import { isObject } from '../../base/json.ts'

export interface Note {
  id: string
  title: string
  text: string
  tags: string[]
  createdAt: string
  updatedAt: string
  /** 1 for a new note. Each edit adds 1. */
  revision: number
}

/** One change, as the journal stores it. */
export type Entry = { put: Note } | { remove: string }

export function isNote(value: unknown): value is Note {
  if (!isObject(value) || !Array.isArray(value.tags)) return false
  const texts = [value.id, value.title, value.text, value.createdAt, value.updatedAt, ...value.tags]
  return texts.every((each) => typeof each === 'string') && Number.isInteger(value.revision)
}

export const isEntry = (value: unknown): value is Entry =>
  isObject(value) && ('put' in value ? isNote(value.put) : typeof value.remove === 'string')

export const idOf = (entry: Entry): string => ('put' in entry ? entry.put.id : entry.remove)

export function apply(notes: Map<string, Note>, entry: Entry): void {
  if ('put' in entry) notes.set(entry.put.id, entry.put)
  else notes.delete(entry.remove)
}
