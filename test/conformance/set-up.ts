/** Before any test: the Node that the official suite needs, which is newer than the one this package must run on. */

import { installNode24 } from './node24.ts'

export function setup(): void {
  try {
    installNode24()
  } catch (error) {
    // Only the tests in this folder need it, and each of them fails without.
    process.stderr.write(`portico: THE CONFORMANCE SUITE CANNOT RUN: ${(error as Error).message}\n`)
  }
}
