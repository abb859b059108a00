/** The built package, which the processes that tests start import. */

import { mkdirSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)
const lock = fileURLToPath(new URL('.cache/building', root))
const ABANDONED_MS = 60_000

/** Builds what is stale, one test file at a time: a build takes away what another file may be running. */
export async function built(): Promise<void> {
  while (!take()) await new Promise((resolve) => setTimeout(resolve, 50))
  try {
    const { buildIfStale } = await import(new URL('scripts/setup.mjs', root).href)
    await buildIfStale()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function take(): boolean {
  mkdirSync(fileURLToPath(new URL('.cache', root)), { recursive: true })
  try {
    mkdirSync(lock)
    return true
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > ABANDONED_MS) rmSync(lock, { recursive: true, force: true })
    return false
  }
}
