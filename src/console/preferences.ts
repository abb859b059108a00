/** What the page remembers for the person, in the folder of the host: the port may differ at each start, and with it the storage of the browser. */

import { join } from 'node:path'
import { isObject } from '../base/json.ts'
import type { FileFormat } from '../files/file-format.ts'
import { sharedJson } from '../files/shared-json.ts'
import { invalid } from './errors.ts'

type Values = Readonly<Record<string, unknown>>

interface Document {
  preferences: Values
}

const FORMAT: FileFormat = { version: 1, upgrades: [(data) => data] }
const MAX_BYTES = 16 * 1024

export interface StoredPreferences {
  read(): Promise<Values>
  /** @throws ApiError 400 if they are too large */
  write(preferences: Values): Promise<void>
}

/** @param folder the folder of the host */
export function storedPreferences(folder: string): StoredPreferences {
  const file = sharedJson<Document>(join(folder, 'console-preferences.json'), { empty: { preferences: {} }, format: FORMAT, check })
  return {
    read: async () => (await file.read()).preferences,
    write: async (preferences) => {
      const bytes = Buffer.byteLength(JSON.stringify(preferences))
      if (bytes > MAX_BYTES) throw invalid(`body: expected at most ${MAX_BYTES} bytes, got ${bytes}`)
      await file.update(() => ({ preferences }))
    },
  }
}

function check(value: unknown): Document {
  if (!isObject(value) || !isObject(value.preferences)) throw new Error('expected an object with preferences')
  return { preferences: value.preferences }
}
