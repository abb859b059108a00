/** The options of a connection with all defaults filled in, and the state that its parts share. */

import { type Clock, systemClock } from '../base/clock.ts'
import { Deadlines } from '../base/deadlines.ts'
import { VERSION } from '../base/version.ts'
import type { Params } from '../jsonrpc/message.ts'
import { checkMembers } from '../protocol/check-members.ts'
import { McpError } from '../protocol/errors.ts'
import type { Change } from '../protocol/interfaces/replaceable-services.ts'
import type { AroundRequest } from '../protocol/interfaces/telemetry.ts'
import type { Implementation } from '../protocol/model/base.ts'
import { checkExtensions } from '../protocol/model/extensions.ts'
import type { ClientCapabilities } from '../protocol/model/lifecycle.ts'
import type { LogLevel, LogMessage } from '../protocol/model/logging.ts'
import type { MirroredParam } from '../protocol/model/param-headers.ts'
import { TASKS } from '../protocol/model/tasks.ts'
import { withDefaults } from '../protocol/with-defaults.ts'
import { selectRevisions } from '../revisions/index.ts'
import type { Revision } from '../revisions/revision.ts'
import { Answerer, capabilitiesOf } from './answer-server.ts'
import { type ClientLimits, DEFAULT_CLIENT_LIMITS } from './limits.ts'
import { CONNECT_MEMBERS, type ConnectOptions } from './options.ts'
import { PageVisits } from './page-visits.ts'

export interface Settings {
  info: Implementation
  supported: readonly Revision[]
  limits: ClientLimits
  clock: Clock
  deadlines: Deadlines
  answerer: Answerer
  pageVisits: PageVisits
  /** Aborted when the client is closed, to end questions to the person. */
  over: AbortController
  /** Cancellations of tasks under way. Closing waits for them for a while. */
  cancelling: Set<Promise<void>>
  /** The capabilities to declare. They change when handlers are added. */
  capabilities(): ClientCapabilities
  /** The current log level. New sessions start with it. */
  logLevel: LogLevel | undefined
  /** The mirrored arguments of a tool call; undefined on transports without headers. */
  mirrored: ((params: Params) => readonly MirroredParam[] | undefined) | undefined
  onLog(message: LogMessage): void
  onWarning(message: string): void
  onChange(change: Change): void
  /** Around every answer to a question of the server, for traces and metrics. */
  aroundAnswer: AroundRequest['answer']
  /** Whether calls may run as tasks. */
  hasTasks: boolean
  /** Takes notifications that the core does not know, and progress of tasks. */
  onNotice(method: string, params: Params | undefined, revision: Revision): void
}

interface SettingsEvents extends Pick<Settings, 'onChange' | 'mirrored'> {
  /** Takes notifications that may be about a task. */
  onTaskNotice(method: string, params: Params): void
}

/** Throws ERR_DEFINITION for an extension with an invalid name. */
export function settingsOf(options: ConnectOptions, { onTaskNotice, ...events }: SettingsEvents): Settings {
  checkMembers('connect', options, CONNECT_MEMBERS)
  checkMembers('answer', options.answer, { elicit: 1, elicitUrl: 1, sample: 1, roots: 1 })
  const { use = [], tasks = true, experimental } = options
  if (!Array.isArray(use) || use.some((each) => typeof each?.notice !== 'function'))
    throw new McpError('ERR_DEFINITION', 'connect: use must be a list of extensions that clientExtension() made')
  const used = Object.fromEntries(use.map(({ id, settings }) => [id, settings]))
  const extensions = { ...(tasks && { [TASKS]: {} }), ...options.extensions, ...used }
  checkExtensions(extensions)
  const hasTasks = TASKS in extensions
  const limits: ClientLimits = withDefaults(DEFAULT_CLIENT_LIMITS, options.limits)
  const clock = options.clock ?? systemClock
  const answerer = new Answerer(options.answer ?? {}, limits, () => clock.now())
  return {
    info: options.info ?? { name: 'portico', version: VERSION },
    supported: selectRevisions(options.revisions),
    limits,
    clock,
    deadlines: new Deadlines(clock, { holdsProcess: true }),
    answerer,
    pageVisits: new PageVisits(),
    over: new AbortController(),
    cancelling: new Set(),
    capabilities: () => capabilitiesOf(answerer.answers, { ...(experimental && { experimental }), extensions }, hasTasks),
    logLevel: options.logLevel,
    aroundAnswer: options.telemetry?.answer,
    hasTasks,
    onLog: options.onLog ?? (() => {}),
    onWarning: options.onWarning ?? (() => {}),
    onNotice: (method, params = {}, revision) => {
      for (const extension of use) extension.notice(method, params, revision)
      onTaskNotice(method, params)
    },
    ...events,
  }
}

/** How long closing waits for the cancellation of tasks. */
const MAX_CANCELLING_MS = 2_000

/** Resolves when the server has answered the cancellations of tasks, or has taken too long. */
export async function cancellationsSent({ cancelling, clock }: Settings): Promise<void> {
  if (cancelling.size === 0) return
  const enough = new Promise<void>((resolve) => clock.after(MAX_CANCELLING_MS, resolve))
  await Promise.race([Promise.all(cancelling), enough])
}
