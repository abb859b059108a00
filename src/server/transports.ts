/** The transports that serve a server. The last one that shuts down hands the tasks over. */

import type { ServedTasks } from '../protocol/interfaces/service.ts'
import type { TaskHook } from './tasks/hook.ts'

export class Transports {
  readonly #tasks: () => TaskHook | undefined
  readonly #serving = new Set<ServedTasks>()

  /** @param tasks undefined as long as the server has no extension for tasks */
  constructor(tasks: () => TaskHook | undefined) {
    this.#tasks = tasks
  }

  begin(): ServedTasks {
    const tasks = this.#tasks
    const serving = this.#serving
    let handedOver: Promise<void> | undefined
    const end = async (): Promise<void> => {
      serving.delete(served)
      // Clients of the other transports go on.
      if (serving.size === 0) await tasks()?.handOver()
    }
    const served: ServedTasks = {
      get running() {
        return tasks()?.running ?? 0
      },
      handOver: () => (handedOver ??= end()),
      whenIdle: async () => {
        if (serving.size === 0) await tasks()?.whenIdle()
      },
      end: async () => {
        await served.handOver()
        if (serving.size === 0) await tasks()?.endShared()
      },
    }
    serving.add(served)
    tasks()?.takeOverAgain()
    return served
  }
}
