/** How tools meet the extension for tasks. Types only, so that servers without tasks do not load any code for them. */

import type { Params } from '../../jsonrpc/message.ts'
import type { CallContext } from '../context.ts'
import type { IncomingCall } from '../incoming-call.ts'

/** What the definition of a tool says about tasks, and about calls whose process stops. */
export interface TaskDefinition {
  /**
   * Whether calls may run as tasks, which outlive the connection. `optional`: if the client asks for it or accepts it; `required`:
   * other calls are refused. Needs `server.extend(tasks())` of portico/tasks. Default: `forbidden`.
   */
  task?: 'optional' | 'required' | 'forbidden'
  /** When a call becomes a task, if the server decides: 0 is at once. Default: 0 if required, otherwise `afterMs` of `tasks()`. */
  taskAfterMs?: number
  /** How long a task of this tool is kept. Default: `ttlMs` of `tasks()`. */
  taskTtlMs?: number
  /**
   * Runs the handler again, in another process, if its process stopped before the answer. Steps in `ctx.once` and answered questions are
   * not repeated; everything else may happen again. Tasks need a durable store for it; other calls a session and a `store` of
   * several replicas. Default: false, and the task or call fails.
   */
  restartable?: boolean
}

/** Whether and when the calls of a tool become tasks. */
export interface TaskRules {
  isRequired: boolean
  afterMs: number | undefined
  ttlMs: number | undefined
  isRestartable: boolean
}

/** A tool call with valid arguments. */
export interface TaskTool {
  name: string
  /** Undefined if its calls cannot become tasks. */
  rules: TaskRules | undefined
  timeoutMs: number | undefined
  /** @param onStarted gets what the handler returned, which may settle later than the call, and returns it or a promise for it */
  start(call: IncomingCall, context?: CallContext, timeoutMs?: number, onStarted?: (value: unknown) => unknown): Params | Promise<Params>
}

export interface TaskHook {
  /** The rules in a definition; undefined if calls cannot become tasks. Throws ERR_DEFINITION if they are invalid. */
  rules(where: string, definition: TaskDefinition): TaskRules | undefined
  /** Whether this call becomes a task, may become one, or is refused because it does not. */
  concerns(call: IncomingCall, rules: TaskRules | undefined): boolean
  call(call: IncomingCall, tool: TaskTool): Promise<Params>
  /** The tasks that run in this process and that no other process can continue. */
  readonly running: number
  /** Hands tasks over that other processes can continue, and takes none over. Resolves when they may be continued. */
  handOver(): Promise<void>
  /** Takes tasks over again, because a transport serves the server again. */
  takeOverAgain(): void
  /** Resolves when no task runs here. */
  whenIdle(): Promise<void>
  /** Ends the tasks that run here and are in the store of the transport. */
  endShared(): Promise<void>
}
