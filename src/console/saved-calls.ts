/** Calls that the person saved, in the folder of the host. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isObject } from '../base/json.ts'
import type { FileFormat } from '../files/file-format.ts'
import { sharedJson } from '../files/shared-json.ts'
import type { NewSavedCall, SavedCall } from './api.ts'
import { notFound, tooMany } from './errors.ts'
import type { ConsoleLimits } from './limits.ts'

interface Document {
  calls: readonly SavedCall[]
}

const FORMAT: FileFormat = { version: 1, upgrades: [(data) => data] }
const KINDS = new Set(['tool', 'resource', 'prompt'])

export interface SavedCalls {
  /** The newest first. */
  list(): Promise<readonly SavedCall[]>
  /** @throws ApiError 429 */
  add(call: NewSavedCall): Promise<SavedCall>
  /** @throws ApiError 404 */
  replace(id: string, call: NewSavedCall): Promise<SavedCall>
  /** @throws ApiError 404 */
  remove(id: string): Promise<void>
}

/** @param folder the folder of the host */
export function savedCalls(folder: string, { maxSavedCalls }: Pick<ConsoleLimits, 'maxSavedCalls'>): SavedCalls {
  const file = sharedJson<Document>(join(folder, 'saved-calls.json'), { empty: { calls: [] }, format: FORMAT, check })
  const without = (calls: readonly SavedCall[], id: string): SavedCall[] => {
    const others = calls.filter((call) => call.id !== id)
    if (others.length === calls.length) throw notFound(`No saved call has the id ${JSON.stringify(id)}`)
    return others
  }
  const stored = (given: NewSavedCall, id: string): SavedCall => ({ ...given, id, savedAt: Date.now() })
  return {
    list: async () => (await file.read()).calls,
    add: async (given) => {
      const call = stored(given, randomUUID())
      await file.update(({ calls }) => {
        if (calls.length >= maxSavedCalls) throw tooMany(`There are ${maxSavedCalls} saved calls already (maxSavedCalls): remove one first`)
        return { calls: [call, ...calls] }
      })
      return call
    },
    replace: async (id, given) => {
      const call = stored(given, id)
      await file.update(({ calls }) => ({ calls: [call, ...without(calls, id)] }))
      return call
    },
    remove: async (id) => {
      await file.update(({ calls }) => ({ calls: without(calls, id) }))
    },
  }
}

function check(value: unknown): Document {
  if (!isObject(value) || !Array.isArray(value.calls) || !value.calls.every(isCall)) throw new Error('expected a list of saved calls')
  return { calls: value.calls }
}

const isCall = (value: unknown): value is SavedCall =>
  isObject(value) &&
  [value.id, value.title, value.server, value.name].every((each) => typeof each === 'string') &&
  KINDS.has(String(value.kind)) &&
  (value.args === undefined || isObject(value.args)) &&
  typeof value.savedAt === 'number'
