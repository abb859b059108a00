/** Follows one task of a server until it ends, over lost connections and restarts of the server. */

import type { TaskHandle, TaskState } from '../../client/tasks/task-handle.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../jsonrpc/message.ts'
import { RemoteError } from '../../jsonrpc/remote-error.ts'
import { type ErrorCode, McpError } from '../../protocol/errors.ts'
import type { Progress } from '../../protocol/model/progress.ts'
import type { CallToolResult } from '../../protocol/model/tools.ts'
import type { PinStore } from '../approval/pin-store.ts'
import { ActionGoesOn } from '../consent/gate/gate.ts'
import { redactError, redactValue } from '../secrets/redact-output.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Fleet } from '../servers/fleet.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { SUSPICIOUS } from '../servers/supervised-options.ts'
import { givesUpAt, type HostTaskState, type TaskRecord } from './task-record.ts'

export interface FollowServices {
  fleet: Fleet<HostedServer>
  pins: PinStore
  redactor: Redactor
  project: string
  /** Tasks of servers that are not in the fleet are left to other hosts. */
  hasOtherServers: boolean
  wallNow(): number
}

export interface FollowEvents {
  onState(state: TaskState): void
  onProgress(progress: Progress): void
  onFollowed(followed: HostTaskState['followed']): void
  /** Resolves when something may have changed: a server is connected, or some time has passed. */
  changed(): Promise<void>
}

/** The host gave the task up. The text is the host's own. */
export class TaskLost extends McpError {}

export class TaskFollowing {
  readonly #services: FollowServices
  readonly #record: TaskRecord
  readonly #events: FollowEvents
  #handle: TaskHandle | undefined
  #isLeaving = false
  #isCancelling = false

  constructor(services: FollowServices, record: TaskRecord, events: FollowEvents) {
    this.#services = services
    this.#record = record
    this.#events = events
  }

  /**
   * Resolves with the result, which is not admitted yet.
   * @param first of a call that became a task; undefined for a task that is resumed
   * @throws ActionGoesOn after `leave`, TaskLost, or the error of the server
   */
  async result(first?: TaskHandle): Promise<CallToolResult> {
    const { redactor } = this.#services
    for (let handle = first; ; handle = undefined) {
      handle ??= await this.#resumed()
      try {
        return redactValue(await this.#watch(handle), redactor)
      } catch (error) {
        if (this.#isLeaving) throw new ActionGoesOn()
        if (!this.#isLost(error)) throw redactError(error, redactor)
        this.#events.onFollowed('waiting')
        await this.#events.changed()
      } finally {
        this.#handle = undefined
      }
    }
  }

  /** Cancels the task now, or when its server is connected again. Resolves with false if the server was not told yet. */
  async cancel(): Promise<boolean> {
    this.#isCancelling = true
    if (!this.#handle) return false
    await this.#handle.cancel()
    return true
  }

  /** Stops following. The task goes on. */
  leave(): void {
    this.#isLeaving = true
    this.#handle?.leave()
  }

  async #watch(handle: TaskHandle): Promise<CallToolResult> {
    this.#handle = handle
    this.#events.onFollowed('here')
    if (this.#isLeaving) handle.leave()
    if (this.#isCancelling) handle.cancel().catch(() => {})
    for await (const state of handle) this.#events.onState(state)
    return handle.result()
  }

  /** Whether the connection ended, and not the task. */
  #isLost(error: unknown): boolean {
    const { taskId, maxTotalMs } = this.#record
    if (taskId === undefined || !(error instanceof McpError)) return false
    return (SUSPICIOUS.has(error.code) || error.code === 'ERR_EXIT') && !(error.code === 'ERR_TIMEOUT' && maxTotalMs !== undefined)
  }

  async #resumed(): Promise<TaskHandle> {
    for (;;) {
      if (this.#isLeaving) throw new ActionGoesOn()
      const server = this.#services.fleet.find(this.#record.server)
      if (!server) this.#checkConfigured()
      const handle = server && canResume(server) ? await this.#resumeAt(server) : undefined
      if (handle) return handle
      if (this.#services.wallNow() > givesUpAt(this.#record))
        throw lost('ERR_TIMEOUT', 'The host no longer waits: the server was not connected in time, or the task took too long')
      await this.#events.changed()
    }
  }

  #checkConfigured(): void {
    const { server } = this.#record
    if (isGone(this.#services, this.#record)) throw lost('ERR_SERVER_UNKNOWN', `The server ${server} is no longer configured`)
  }

  /** Undefined: try again later. */
  async #resumeAt(server: HostedServer): Promise<TaskHandle | undefined> {
    const { taskId = '', tool } = this.#record
    let handle: TaskHandle | undefined
    try {
      await server.use(async (client) => {
        await this.#checkUnchanged(server)
        handle = await client.resumeTask(taskId, { tool, onProgress: (progress) => this.#events.onProgress(progress) })
      })
      return handle
    } catch (error) {
      if (error instanceof TaskLost) throw error
      if (error instanceof RemoteError && (error.code === INVALID_PARAMS || error.code === METHOD_NOT_FOUND))
        throw lost('ERR_CLOSED', `The server ${server.id} no longer has the task. Many servers keep tasks only while they run`)
      if (error instanceof McpError && error.code === 'ERR_CAPABILITY_MISSING')
        throw lost('ERR_CLOSED', `The server ${server.id} no longer has tasks`)
      return undefined
    }
  }

  /** The person agreed to a call of this program and this tool. */
  async #checkUnchanged(server: HostedServer): Promise<void> {
    const { fingerprint, pin, tool } = this.#record
    await this.#services.pins.refresh()
    if (server.facts.fingerprint !== fingerprint)
      throw lost('ERR_QUARANTINED', `The server ${server.id} is no longer the one that began the task: its program or address changed`)
    const now = server.primitive('tool', tool)
    if (now.pin !== pin || now.state !== 'pinned')
      throw lost('ERR_QUARANTINED', `The definition of the tool ${JSON.stringify(tool)} changed since the task began`)
  }
}

/** Whether no host has the server of the task. Other projects may have other servers. */
export const isGone = ({ fleet, project, hasOtherServers }: FollowServices, record: TaskRecord): boolean =>
  !hasOtherServers && record.project === project && !fleet.find(record.server)

/** Only a server that is connected and listed: a start could ask the person. */
export const canResume = ({ health, isListedWhole }: HostedServer): boolean => health.state === 'ready' && isListedWhole

const lost = (code: ErrorCode, text: string): TaskLost => new TaskLost(code, text)
