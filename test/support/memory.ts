/** Measures what a value keeps in memory, on the heap and outside of it. */

import { collectGarbage } from './http-service.ts'

function usedBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The bytes that stay as long as the result of `make` is held. */
export async function memoryKeptBy(make: () => unknown): Promise<number> {
  const before = usedBytes()
  const kept = [await make()]
  const after = usedBytes()
  // The collector must not take it before it was measured.
  return kept.length > 0 ? after - before : 0
}
