/** The services that a server gives to its features (tools, resources, prompts, completion) and to handler contexts. Types only. */

import type { Deadlines } from '../base/deadlines.ts'
import type { Change } from '../protocol/interfaces/replaceable-services.ts'
import type { AppHook } from './apps/hook.ts'
import type { ServerLimits } from './limits.ts'
import type { ListingOptions } from './listing.ts'
import type { Logging } from './logging.ts'
import type { TaskHook } from './tasks/hook.ts'

export interface FeatureEnvironment {
  readonly limits: ServerLimits
  readonly deadlines: Deadlines
  readonly logging: Logging
  readonly slashesInToolNames: boolean
  /** The services that all lists share. */
  readonly listOptions: Pick<ListingOptions<unknown>, 'pageSize' | 'keys' | 'cache'>
  /** Undefined without the extension for tasks. */
  readonly tasks: TaskHook | undefined
  /** Undefined without the extension for apps. */
  readonly apps: AppHook | undefined
  now(): number
  /** Tells clients about a change. */
  announce(change: Change): void
}
