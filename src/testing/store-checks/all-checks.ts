/** All rules of a store. */

import type { StoreCheck } from './expect.ts'
import { questionChecks } from './questions.ts'
import { replicaChecks } from './replicas.ts'
import { sessionChecks } from './sessions.ts'
import { streamChecks } from './streams.ts'
import { taskChecks } from './tasks.ts'
import { valueChecks } from './values.ts'

export const ALL_CHECKS: readonly StoreCheck[] = [
  ...sessionChecks,
  ...streamChecks,
  ...questionChecks,
  ...replicaChecks,
  ...valueChecks,
  ...taskChecks,
]
