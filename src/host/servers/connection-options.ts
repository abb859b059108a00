/** How the host connects to a server: what its entry in the configuration says, and what is the same for all servers. */

import { verdictMemory } from '../../client/dialect-memory.ts'
import type { ConnectAnywhereOptions } from '../../index.ts'
import { APPS, VIEW_TYPE } from '../../protocol/model/apps.ts'
import type { AllSupervisionLimits } from './limits.ts'
import type { SupervisedOptions } from './supervised-options.ts'

export function connectionOptions(
  { spec, answers, auth, info, clientLimits, telemetry }: SupervisedOptions,
  { connectTimeoutMs, maxOfferingItems }: AllSupervisionLimits,
): ConnectAnywhereOptions {
  const { timeoutMs, revisions, httpTransport } = spec
  return {
    // `Liveness` pings, in the same way for every transport.
    pingIntervalMs: 0,
    extensions: { [APPS]: { mimeTypes: [VIEW_TYPE] } },
    limits: { connectTimeoutMs, maxItems: maxOfferingItems, ...(timeoutMs !== undefined && { timeoutMs }), ...clientLimits },
    ...(answers && { answer: answers }),
    ...(auth && { auth }),
    ...(info && { info }),
    ...(revisions && { revisions }),
    // What is found out over one transport says nothing about a start without that choice.
    ...(httpTransport && { memory: verdictMemory() }),
    ...(telemetry && { telemetry }),
  }
}
