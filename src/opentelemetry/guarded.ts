/** Asks OpenTelemetry, whose parts belong to the program: samplers, processors, propagators and meters. If one fails, no request fails. */

import { type Context, context, ROOT_CONTEXT } from '@opentelemetry/api'
import { reportFirst } from '../base/call-observer.ts'

/**
 * The first failure of each step in this process is reported.
 *
 * @param step for the report, such as `span.end`
 * @returns undefined if it failed
 */
export function guarded<T>(step: string, run: () => T): T | undefined {
  try {
    return run()
  } catch (fault) {
    reportFirst(`OpenTelemetry (${step})`, fault)
    return undefined
  }
}

export const activeContext = (): Context => guarded('context.active', () => context.active()) ?? ROOT_CONTEXT

/** Does the work once, also if its context cannot be made active. */
export function runInside<T>(inside: Context, work: () => Promise<T>): Promise<T> {
  let running: Promise<T> | undefined
  // An error of the work must not look like one of the context.
  const start = async (): Promise<T> => work()
  guarded('context.with', () =>
    context.with(inside, () => {
      running = start()
    }),
  )
  return running ?? start()
}
