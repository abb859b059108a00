/**
 * A SQLite database that can only be read. SQLite itself enforces it, in three ways: the database is opened read-only, an authorizer
 * allows no statement but SELECT, and a progress handler ends a statement that takes too long.
 */

import sqlite3InitModule from '@sqlite.org/sqlite-wasm'

export interface QueryLimits {
  maxRows: number
  maxMs: number
  maxBytes: number
}

export const DEFAULT_QUERY_LIMITS: QueryLimits = { maxRows: 100, maxMs: 500, maxBytes: 64 * 1024 }

const MAX_VALUE_BYTES = 1024 * 1024

export interface QueryResult {
  rows: Record<string, unknown>[]
  /** There are more rows than the limits allow. */
  isCut: boolean
}

export interface ReadOnlyDatabase {
  query(sql: string, parameters?: readonly (string | number | null)[]): QueryResult
  close(): void
}

const sqlite = await sqlite3InitModule()
// The library reports every failed statement to the console as well. Here the caller gets the error.
sqlite.config.warn = () => {}
sqlite.config.error = () => {}

/** @param file the bytes of a database file */
export function openReadOnly(file: Uint8Array, limits: QueryLimits = DEFAULT_QUERY_LIMITS): ReadOnlyDatabase {
  const { capi, wasm } = sqlite
  const db = new sqlite.oo1.DB(':memory:')
  const flags = capi.SQLITE_DESERIALIZE_READONLY | capi.SQLITE_DESERIALIZE_FREEONCLOSE
  const copy = wasm.allocFromTypedArray(file)
  db.checkRc(capi.sqlite3_deserialize(db, 'main', copy, file.length, file.length, flags))

  // Also denies ATTACH, PRAGMA, temporary tables and transactions.
  const allowed = new Set<number>([capi.SQLITE_SELECT, capi.SQLITE_READ, capi.SQLITE_FUNCTION, capi.SQLITE_RECURSIVE])
  capi.sqlite3_set_authorizer(db, (_context, action) => (allowed.has(action) ? capi.SQLITE_OK : capi.SQLITE_DENY), 0)

  // A single value, such as zeroblob(1e9), cannot fill the memory.
  capi.sqlite3_limit(db, capi.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)

  let until = 0
  capi.sqlite3_progress_handler(db, 1000, () => (Date.now() > until ? 1 : 0), 0)

  return {
    query(sql, parameters = []) {
      until = Date.now() + limits.maxMs
      // Only the first statement of the text is prepared, so there is never a second one.
      const statement = db.prepare(sql)
      try {
        if (parameters.length > 0) statement.bind([...parameters])
        const rows: QueryResult['rows'] = []
        let bytes = 0
        while (statement.step()) {
          const row = statement.get({}) as Record<string, unknown>
          bytes += JSON.stringify(row, asText).length
          if (rows.length === limits.maxRows || bytes > limits.maxBytes) return { rows, isCut: true }
          rows.push(row)
        }
        return { rows, isCut: false }
      } finally {
        statement.finalize()
      }
    },
    close: () => db.close(),
  }
}

/** Large integers and blobs have no form of their own in JSON. */
export const asText = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value instanceof Uint8Array ? `(${value.length} bytes)` : value

/** Makes a database file in memory, for the sample and for tests. */
export function makeDatabase(sql: string): Uint8Array {
  const db = new sqlite.oo1.DB(':memory:')
  try {
    db.exec(sql)
    return sqlite.capi.sqlite3_js_db_export(db)
  } finally {
    db.close()
  }
}
