/** What a view learns of the call that opened it, in the order of the dialect. It is kept until the view is ready. */

import { McpError } from '../../protocol/errors.ts'
import type { CallToolResult } from '../../protocol/model/tools.ts'
import type { HostContext, HostNotifications } from './messages.ts'

type End = 'ui/notifications/tool-result' | 'ui/notifications/tool-cancelled'

type Notify = (method: keyof HostNotifications, params: object) => void

export class ToolFeed {
  readonly #notify: Notify
  #isOpen = false
  /** Only the last one counts. */
  #partial: HostNotifications['ui/notifications/tool-input-partial'] | undefined
  #input: HostNotifications['ui/notifications/tool-input'] | undefined
  #end: [End, object] | undefined
  #context: HostContext | undefined

  constructor(notify: Notify) {
    this.#notify = notify
  }

  /** Sends the messages that waited until the view was ready. */
  open(): void {
    this.#isOpen = true
    if (this.#context) this.#notify('ui/notifications/host-context-changed', this.#context)
    if (this.#input) this.#notify('ui/notifications/tool-input', this.#input)
    else if (this.#partial) this.#notify('ui/notifications/tool-input-partial', this.#partial)
    if (this.#end) this.#notify(...this.#end)
  }

  partial(args: Record<string, unknown>): void {
    if (this.#input || this.#end) return
    this.#partial = { arguments: args }
    if (this.#isOpen) this.#notify('ui/notifications/tool-input-partial', this.#partial)
  }

  input(args: Record<string, unknown>): void {
    if (this.#input || this.#end) throw wrongOrder('the arguments of the tool can be given once, before its result')
    this.#input = { arguments: args }
    if (this.#isOpen) this.#notify('ui/notifications/tool-input', this.#input)
  }

  result(result: CallToolResult): void {
    if (!this.#input || this.#end) throw wrongOrder('the result of the tool can be given once, after its arguments')
    this.#finish('ui/notifications/tool-result', result)
  }

  cancelled(reason: string | undefined): void {
    if (this.#end) throw wrongOrder('the call of the tool has ended already')
    this.#finish('ui/notifications/tool-cancelled', reason === undefined ? {} : { reason })
  }

  context(changes: HostContext): void {
    if (this.#isOpen) this.#notify('ui/notifications/host-context-changed', changes)
    else this.#context = { ...this.#context, ...changes }
  }

  #finish(method: End, params: object): void {
    this.#end = [method, params]
    if (this.#isOpen) this.#notify(method, params)
  }
}

const wrongOrder = (what: string): McpError => new McpError('ERR_INVALID_REQUEST', `Wrong order: ${what}`)
