import type * as official from '@modelcontextprotocol/ext-apps'
import { describe, expectTypeOf, test } from 'vitest'
import type { AppNotifications, AppRequests, HostCapabilities, HostNotifications, SandboxNotifications } from '../../src/apps/index.ts'
import { proves } from '../support/proves.ts'

/** Lists that a definition may not change are lists to a reader. */
type Loose<T> = T extends (...args: never[]) => unknown
  ? T
  : T extends readonly (infer Item)[]
    ? Loose<Item>[]
    : T extends object
      ? { -readonly [Key in keyof T]: Loose<T[Key]> }
      : T

/** The checks are made by the compiler; a failing one fails `tsc` and the tests of the types. */
describe('the types of the official package', () => {
  test('what an official view sends is what our bridge takes', () => {
    proves('R-APP-017', 'R-APP-023')
    expectTypeOf<official.McpUiInitializeRequest['params']>().toMatchTypeOf<AppRequests['ui/initialize']['params']>()
    expectTypeOf<official.McpUiOpenLinkRequest['params']>().toEqualTypeOf<AppRequests['ui/open-link']['params']>()
    expectTypeOf<official.McpUiMessageRequest['params']['role']>().toEqualTypeOf<AppRequests['ui/message']['params']['role']>()
    expectTypeOf<official.McpUiRequestDisplayModeRequest['params']>().toEqualTypeOf<AppRequests['ui/request-display-mode']['params']>()
    expectTypeOf<official.McpUiSizeChangedNotification['params']>().toEqualTypeOf<AppNotifications['ui/notifications/size-changed']>()
    type Sent =
      | official.McpUiInitializeRequest
      | official.McpUiOpenLinkRequest
      | official.McpUiMessageRequest
      | official.McpUiRequestDisplayModeRequest
      | official.McpUiUpdateModelContextRequest
    expectTypeOf<Sent['method']>().toExtend<keyof AppRequests>()
    type Told = official.McpUiInitializedNotification | official.McpUiSizeChangedNotification | official.McpUiRequestTeardownNotification
    expectTypeOf<Told['method']>().toExtend<keyof AppNotifications>()
  })

  test('what our bridge sends is what an official view takes', () => {
    proves('R-APP-018', 'R-APP-024')
    type Initialized = AppRequests['ui/initialize']['result']
    expectTypeOf<Loose<HostCapabilities>>().toExtend<official.McpUiHostCapabilities>()
    expectTypeOf<Initialized['protocolVersion']>().toExtend<official.McpUiInitializeResult['protocolVersion']>()
    expectTypeOf<NonNullable<Initialized['hostContext']['theme']>>().toEqualTypeOf<official.McpUiTheme>()
    expectTypeOf<Omit<Initialized['hostContext'], 'toolInfo'>>().toExtend<Omit<official.McpUiHostContext, 'toolInfo'>>()
    expectTypeOf<AppRequests['ui/request-display-mode']['result']>().toExtend<{ mode: official.McpUiDisplayMode }>()
    expectTypeOf<HostNotifications['ui/notifications/tool-input']>().toEqualTypeOf<official.McpUiToolInputNotification['params']>()
    expectTypeOf<HostNotifications['ui/notifications/tool-input-partial']>().toEqualTypeOf<
      official.McpUiToolInputPartialNotification['params']
    >()
    expectTypeOf<HostNotifications['ui/notifications/tool-cancelled']>().toEqualTypeOf<official.McpUiToolCancelledNotification['params']>()
    type Told =
      | official.McpUiToolInputNotification
      | official.McpUiToolInputPartialNotification
      | official.McpUiToolResultNotification
      | official.McpUiToolCancelledNotification
      | official.McpUiHostContextChangedNotification
    expectTypeOf<keyof HostNotifications>().toEqualTypeOf<Told['method']>()
  })

  test('the frame around a view has the messages of the official one', () => {
    proves('R-APP-014')
    type Told = official.McpUiSandboxProxyReadyNotification | official.McpUiSandboxResourceReadyNotification
    expectTypeOf<keyof SandboxNotifications>().toEqualTypeOf<Told['method']>()
    type Ready = Loose<SandboxNotifications['ui/notifications/sandbox-resource-ready']>
    expectTypeOf<Ready>().toExtend<official.McpUiSandboxResourceReadyNotification['params']>()
  })
})
