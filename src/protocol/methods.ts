/** All methods of all revisions, by name. */

import { completionMethods } from './model/completion.ts'
import { elicitationMethods } from './model/elicitation.ts'
import { lifecycleMethods } from './model/lifecycle.ts'
import { loggingMethods } from './model/logging.ts'
import type { MethodRow } from './model/method.ts'
import { progressMethods } from './model/progress.ts'
import { promptMethods } from './model/prompts.ts'
import { resourceMethods } from './model/resources.ts'
import { rootMethods } from './model/roots.ts'
import { samplingMethods } from './model/sampling.ts'
import { subscriptionMethods } from './model/subscriptions.ts'
import { toolMethods } from './model/tools.ts'

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

/** A method with the feature that its capability belongs to. */
export type KnownMethod = MethodRow & { feature: string | undefined }

export const METHODS: ReadonlyMap<string, KnownMethod> = new Map(
  rows.map((row) => [row.method, { ...row, feature: row.capability?.split('.', 1)[0] }]),
)
