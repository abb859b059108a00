/** Every method of every revision, by name. */

import { completionMethods } from './completion.ts'
import { elicitationMethods } from './elicitation.ts'
import { lifecycleMethods } from './lifecycle.ts'
import { loggingMethods } from './logging.ts'
import type { MethodRow } from './method.ts'
import { progressMethods } from './progress.ts'
import { promptMethods } from './prompts.ts'
import { resourceMethods } from './resources.ts'
import { rootMethods } from './roots.ts'
import { samplingMethods } from './sampling.ts'
import { subscriptionMethods } from './subscriptions.ts'
import { toolMethods } from './tools.ts'

const rows: readonly MethodRow[] = [
  ...lifecycleMethods,
  ...progressMethods,
  ...toolMethods,
  ...resourceMethods,
  ...promptMethods,
  ...completionMethods,
  ...loggingMethods,
  ...rootMethods,
  ...samplingMethods,
  ...elicitationMethods,
  ...subscriptionMethods,
]

/** A row with the feature that its capability belongs to. */
export type KnownMethod = MethodRow & { feature: string | undefined }

export const METHODS: ReadonlyMap<string, KnownMethod> = new Map(
  rows.map((row) => [row.method, { ...row, feature: row.capability?.split('.', 1)[0] }]),
)
