/** Shows the view of a tool: reads and checks it, and decides everything that it asks for at the gate. */

import { AppBridge } from '../../apps/bridge/bridge.ts'
import { type AppHandlers, AppRefusal } from '../../apps/bridge/bridge-options.ts'
import { type AppLimits, DEFAULT_APP_LIMITS } from '../../apps/bridge/limits.ts'
import type { HostContext, HostMessage } from '../../apps/bridge/messages.ts'
import { contentSecurityPolicy, frameAllowance, NO_DOMAINS, type View, viewOf } from '../../apps/bridge/view.ts'
import { McpError } from '../../protocol/errors.ts'
import { toolViewOf } from '../../protocol/model/apps.ts'
import type { Implementation } from '../../protocol/model/base.ts'
import type { ContentBlock } from '../../protocol/model/content.ts'
import type { CallToolResult, Tool } from '../../protocol/model/tools.ts'
import type { Conversation } from '../conversation/chat/conversation.ts'
import { labelsOfResult } from '../conversation/flow/result-labels.ts'
import { isRefusal } from '../model/refusal.ts'
import type { HostedServer } from '../servers/hosted-server.ts'
import { type UseOptions, useRequest } from './action-request.ts'
import { AppActions, type AppServices } from './app-actions.ts'
import { primitiveOf, type ResourceTarget, resourceRequest } from './read-resource.ts'
import { performUse, sendPinned } from './send-through-gate.ts'

/** How a view is shown, and what it may do. */
export interface ShownApp extends Pick<AppHandlers, 'setDisplayMode' | 'onSize' | 'onLog' | 'onState' | 'onCloseWanted' | 'onEnd'> {
  /** The arguments of the call that the view shows. Default: none. */
  args?: Readonly<Record<string, unknown>>
  /** The result of that call. Default: none yet; give it to the bridge later. */
  result?: CallToolResult
  /** The person lets the view contact the addresses that it declares. Default: false. */
  allowsAddresses?: boolean
  /** The person lets the view use the features of the browser that it declares, such as the camera. Default: false. */
  allowsPermissions?: boolean
  /** What the view learns of its surroundings. */
  context?: HostContext
  /** Sends a message to the view. */
  send(message: HostMessage): void
  /** Adds a message to the chat, after the person agreed to it. Default: the view cannot send messages. */
  onMessage?(content: readonly ContentBlock[]): void | Promise<void>
  /**
   * Called when the view has told the model something, or taken it back: `conversation.contexts` has changed. Show it to the person, because it
   * goes to the model with their next message. Default: the view cannot tell the model anything.
   */
  onContext?(): void
}

/** A view that is shown. */
export interface HostApp {
  /** The id of its server. */
  readonly server: string
  /** The server's own name of its tool. */
  readonly tool: string
  readonly view: View
  /** The Content Security Policy of its frame. */
  readonly policy: string
  /** The `allow` attribute of its frame. */
  readonly allow: string
  /** Give it every message of the view. */
  readonly bridge: AppBridge
}

export async function openApp(
  services: AppServices,
  server: HostedServer,
  name: string,
  shown: ShownApp,
  options: UseOptions,
  settings: { info: Implementation; limits?: Partial<AppLimits> },
): Promise<HostApp> {
  const tool = server.definition('tool', name) as Tool | undefined
  const uri = tool && toolViewOf(tool).resourceUri
  if (!tool || uri === undefined)
    throw new McpError('ERR_SERVER_UNKNOWN', `The tool ${JSON.stringify(name)} of the server ${server.id} has no view`)
  // What the view reads is no part of the conversation, until the view says something there.
  const own = { ...options, conversation: options.conversation.emptied() }
  const limits = { ...DEFAULT_APP_LIMITS, ...settings.limits }
  const view = await readView(services, { server, uri, template: undefined }, own, limits.maxViewBytes)
  const domains = shown.allowsAddresses ? view.domains : NO_DOMAINS
  const permissions = shown.allowsPermissions ? view.permissions : []
  const addresses = [...new Set(Object.values(domains).flat())]
  const policy = contentSecurityPolicy(domains)
  await services.gate.run(
    {
      // The policy of the frame is a part of the record.
      ...useRequest(server, 'app.open', own, () => ({
        primitive: server.primitive('tool', name),
        args: { uri, addresses, permissions, policy },
      })),
      subject: () => ({ kind: 'app', tool: name, uri, addresses, permissions }),
    },
    async () => {},
  )
  remember(services, server, tool, own.conversation, shown.result)
  const actions = new AppActions(services, { server, tool, chat: options.conversation, own: own.conversation })
  const { send, context, onMessage, onContext } = shown
  const bridge = new AppBridge({
    send,
    info: settings.info,
    limits,
    clock: services.clock,
    context: { toolInfo: { tool }, ...context },
    sandbox: {
      csp: Object.fromEntries(Object.entries(domains).map(([list, origins]) => [list, [...origins]])),
      permissions: Object.fromEntries(permissions.map((each) => [each, {}])),
    },
    handlers: {
      callTool: (params, signal) => refusing(() => actions.callTool(params, signal)),
      readResource: ({ uri: wanted }, signal) => refusing(() => actions.read(wanted, signal)),
      openLink: ({ url }, signal) => refusing(() => actions.openLink(url, signal)),
      ...(onMessage && {
        sendMessage: ({ content }, signal) => refusing(() => actions.sendMessage(content, onMessage, signal)),
      }),
      ...(onContext && {
        updateModelContext: (update, signal) => refusing(() => actions.updateContext(update, onContext, signal)),
      }),
      ...chosen(shown),
    },
  })
  if (shown.args) bridge.toolInput({ ...shown.args })
  if (shown.args && shown.result) bridge.toolResult(shown.result)
  return { server: server.id, tool: name, view, policy, allow: frameAllowance(permissions), bridge }
}

const chosen = ({ setDisplayMode, onSize, onLog, onState, onCloseWanted, onEnd }: ShownApp): AppHandlers => ({
  ...(setDisplayMode && { setDisplayMode }),
  ...(onSize && { onSize }),
  ...(onLog && { onLog }),
  ...(onState && { onState }),
  ...(onCloseWanted && { onCloseWanted }),
  ...(onEnd && { onEnd }),
})

async function readView(services: AppServices, target: ResourceTarget, options: UseOptions, maxBytes: number): Promise<View> {
  const { server, uri } = target
  await services.pins.refresh()
  const outcome = await performUse(services, resourceRequest('resource.read', target, options), options, () =>
    sendPinned(server, primitiveOf(target), options, (client) => client.read(uri, { signal: options.signal })),
  )
  if ('error' in outcome) throw outcome.error
  return viewOf(uri, outcome.value, maxBytes)
}

/** The view can repeat the result that it shows. */
function remember(
  { wallNow }: AppServices,
  server: HostedServer,
  tool: Tool,
  conversation: Conversation,
  result: CallToolResult | undefined,
): void {
  if (!result) return
  const labels = labelsOfResult(server.spec, tool, server.asserted(tool.name))
  conversation.flow().add({ labels, source: `${server.id}/${tool.name}`, server: server.id, value: result, at: wallNow() })
}

/** The view learns only that it was refused, not whether a person or a rule decided. */
async function refusing<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw isRefusal(error) ? new AppRefusal('The host did not allow it') : error
  }
}
