/** The requests about tasks, in both forms. */

import { isObject } from '../../base/json.ts'
import { onAbort } from '../../base/on-abort.ts'
import type { Params } from '../../jsonrpc/message.ts'
import { McpError } from '../../protocol/errors.ts'
import { permits } from '../../protocol/interfaces/access.ts'
import type { TaskRecord } from '../../protocol/interfaces/task-record.ts'
import type { InputRequest } from '../../protocol/model/input-required.ts'
import { relatedTo, requestedTask } from '../../protocol/model/kept-task.ts'
import { isFinal, TASKS } from '../../protocol/model/tasks.ts'
import { markOf, readCursor, writeCursor } from '../cursor.ts'
import { requireExtension } from '../declared-extension.ts'
import { notFound } from '../dispatch.ts'
import type { IncomingCall } from '../incoming-call.ts'
import type { Question } from '../input/question.ts'
import { lacking, questionsFor } from './answerable.ts'
import type { TaskEngine } from './engine.ts'
import { detailedTask } from './extension-form.ts'
import { ownerOf, type TaskKey } from './owner.ts'

type TaskMethod = (call: IncomingCall, engine: TaskEngine) => Promise<Params>

const EXTENSION: ReadonlyMap<string, TaskMethod> = new Map<string, TaskMethod>([
  ['tasks/get', async (call, engine) => detailedTask(await engine.own(call), call.caller.capabilities)],
  ['tasks/update', update],
  [
    'tasks/cancel',
    async (call, engine) => {
      await engine.cancel(await engine.own(call))
      return {}
    },
  ],
])

const REQUESTED: ReadonlyMap<string, TaskMethod> = new Map<string, TaskMethod>([
  [
    'tasks/get',
    async (call, engine) => {
      const task = await engine.own(call)
      return { ...requestedTask(task), ...questionsFor(task, call.caller.capabilities).note }
    },
  ],
  ['tasks/result', result],
  ['tasks/list', list],
  ['tasks/cancel', cancel],
])

export const isTaskMethod = (method: string): boolean => EXTENSION.has(method) || REQUESTED.has(method)

/** Answers a request about tasks. Throws ERR_METHOD_NOT_FOUND where the revision does not have it. */
export function runTaskMethod(call: IncomingCall, engine: TaskEngine): Promise<Params> {
  const isExtension = call.revision.tasks === 'extension'
  const method = (isExtension ? EXTENSION : REQUESTED).get(call.method)
  if (!method) throw notFound(call.method)
  if (isExtension) requireExtension(call, TASKS)
  return method(call, engine)
}

async function update(call: IncomingCall, engine: TaskEngine): Promise<Params> {
  const { inputResponses } = call.params
  if (!isObject(inputResponses)) throw new McpError('ERR_INVALID_PARAMS', 'params.inputResponses must be an object')
  await engine.answers.deliver(await engine.own(call), inputResponses)
  return {}
}

async function cancel(call: IncomingCall, engine: TaskEngine): Promise<Params> {
  const task = await engine.own(call)
  const cancelled = await engine.cancel(task)
  if (cancelled) return requestedTask(cancelled)
  const { status } = requestedTask((await engine.table.read(task)) ?? task)
  throw new McpError('ERR_INVALID_PARAMS', `The task cannot be cancelled: it is already ${String(status)}`)
}

async function list(call: IncomingCall, engine: TaskEngine): Promise<Params> {
  // Callers that cannot be told apart must not see each other's tasks.
  if (call.caller.principal === undefined && !call.dialect.isPrivate) throw notFound(call.method)
  await engine.admit(call)
  const { keys, pageSize } = engine.serverState.listOptions
  const { cursor } = call.params
  const owner = ownerOf(call)
  const label = `tasks of ${owner}`
  const place = cursor === undefined ? undefined : await readCursor(label, cursor, keys)
  const { table, serverState } = engine
  const mayUse = (tool: string): boolean => permits(call.access, serverState.tools.scopesOf(tool))
  const all = (await table.store.list(owner)).filter((task) => table.isKept(task) && mayUse(task.tool))
  // If the last task of the page before is gone, the list restarts, so that nothing is skipped.
  const start = place ? all.findIndex(({ taskId }) => markOf(taskId) === place.mark) + 1 : 0
  const page = all.slice(start, start + pageSize)
  const last = page.at(-1)
  const tasks = page.map(requestedTask)
  if (!last || start + pageSize >= all.length) return { tasks }
  return { tasks, nextCursor: await writeCursor(label, { index: start + pageSize - 1, mark: markOf(last.taskId) }, keys) }
}

/** Answers as the call would have answered, once the task has ended. */
async function result(call: IncomingCall, engine: TaskEngine): Promise<Params> {
  const { taskId, outcome, statusMessage } = await untilFinal(call, engine, await engine.own(call))
  if (!outcome) throw new McpError('ERR_INTERNAL', `The task was cancelled${statusMessage === undefined ? '' : `: ${statusMessage}`}`)
  if ('error' in outcome) {
    call.exchange.fail(outcome.error)
    return {}
  }
  const given = call.revision.downgradeResult('tools/call', outcome.result)
  return { ...given, _meta: { ...(given._meta as Params | undefined), ...relatedTo(taskId) } }
}

/** Waits until the task has ended. Meanwhile its questions are sent to the client on the stream of this request. */
function untilFinal(call: IncomingCall, engine: TaskEngine, key: TaskKey & { ttlMs: number }): Promise<TaskRecord> {
  const { signal } = call.exchange
  const asked = new Set<string>()
  /** Questions that the client has not answered, with what withdraws them. */
  const open = new Map<string, AbortController>()
  const withdraw = (name: string): void => {
    open.get(name)?.abort(new DOMException('The task no longer waits for the answer', 'AbortError'))
    open.delete(name)
  }
  return new Promise((resolve, reject) => {
    let unwatch = (): void => {}
    const end = (settle: () => void): void => {
      stop()
      unwatch()
      for (const name of open.keys()) withdraw(name)
      settle()
    }
    const look = (task: TaskRecord | undefined): void => {
      if (!task)
        return end(() =>
          reject(new McpError('ERR_INVALID_PARAMS', `The task did not end within its time of ${key.ttlMs} ms (ttl), and was deleted`)),
        )
      if (isFinal(task)) return end(() => resolve(task))
      // Another client was faster.
      for (const name of open.keys()) if (!Object.hasOwn(task.questions, name)) withdraw(name)
      for (const [name, request] of Object.entries(task.questions)) {
        if (asked.has(name)) continue
        asked.add(name)
        // It stays open for a client that can answer it.
        if (lacking(request, call.caller.capabilities)) continue
        const until = new AbortController()
        open.set(name, until)
        void askLive(call, engine, task, name, { request, until: until.signal }).finally(() => open.delete(name))
      }
    }
    const stop = engine.table.listen(key, look)
    unwatch = onAbort(signal, () => end(() => reject(signal.reason as Error)))
    engine.table.read(key).then(look, (error: Error) => end(() => reject(error)))
  })
}

/**
 * Asks the client a question of a task. The process that runs the task checks the answer. The question waits as long as the task does,
 * and stays open for other requests if this one ends.
 */
async function askLive(
  call: IncomingCall,
  engine: TaskEngine,
  task: TaskRecord,
  name: string,
  { request, until }: { request: InputRequest; until: AbortSignal },
): Promise<void> {
  const params = { ...request.params, _meta: { ...((request.params as Params | undefined)?._meta as Params), ...relatedTo(task.taskId) } }
  const question: Question = {
    request: { ...request, params } as InputRequest,
    needs: {},
    until,
    read: (raw) => ({ ok: true, value: raw }),
  }
  try {
    await engine.answers.deliver(task, { [name]: await call.asker.ask(name, question) })
  } catch (error) {
    if (!until.aborted && !call.exchange.isOver) await engine.answers.refuse(task, name, error).catch(() => {})
  }
}
