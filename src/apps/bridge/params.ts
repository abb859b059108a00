/** Checks the params of a view's requests. Each function returns undefined for params that do not fit. */

import { isObject } from '../../base/json.ts'
import { type ContentBlock, isContentBlock } from '../../protocol/model/content.ts'
import { LOG_LEVELS, type LogLevel } from '../../protocol/model/logging.ts'
import { type AppNotifications, type AppRequests, DISPLAY_MODES, type DisplayMode } from './messages.ts'

type Read<Params> = (params: Record<string, unknown>) => Params | undefined

const isMode = (value: unknown): value is DisplayMode => DISPLAY_MODES.includes(value as DisplayMode)

const isBlock = (value: unknown): value is ContentBlock =>
  isContentBlock(value) && (value.type !== 'text' || typeof value.text === 'string')

/** By method. */
export const READ_REQUEST: { [Method in keyof AppRequests]: Read<AppRequests[Method]['params']> } = {
  'ui/initialize': ({ appInfo, appCapabilities, protocolVersion }) => {
    if (!isObject(appInfo) || typeof appInfo.name !== 'string' || typeof appInfo.version !== 'string') return undefined
    if (!isObject(appCapabilities) || typeof protocolVersion !== 'string') return undefined
    const { availableDisplayModes: modes } = appCapabilities
    if (modes !== undefined && !Array.isArray(modes)) return undefined
    return {
      appInfo: { name: appInfo.name.slice(0, MAX_NAME_CHARS), version: appInfo.version.slice(0, MAX_NAME_CHARS) },
      appCapabilities: modes === undefined ? {} : { availableDisplayModes: DISPLAY_MODES.filter((mode) => modes.includes(mode)) },
      protocolVersion,
    }
  },
  'ui/open-link': ({ url }) => (typeof url === 'string' && url.length <= MAX_URL_CHARS ? { url } : undefined),
  'ui/message': ({ role, content }) => {
    // The specification has one block, the official package a list.
    const blocks = Array.isArray(content) ? content : [content]
    return role === 'user' && blocks.length > 0 && blocks.every(isBlock) ? { role, content: blocks } : undefined
  },
  'ui/request-display-mode': ({ mode }) => (isMode(mode) ? { mode } : undefined),
  'ui/update-model-context': ({ content, structuredContent }) => {
    if (content !== undefined && !(Array.isArray(content) && content.every(isBlock))) return undefined
    if (structuredContent !== undefined && !isObject(structuredContent)) return undefined
    return { ...(content && { content }), ...(structuredContent && { structuredContent }) }
  },
  'tools/call': ({ name, arguments: args = {} }) => (typeof name === 'string' && isObject(args) ? { name, arguments: args } : undefined),
  'resources/read': ({ uri }) => (typeof uri === 'string' && uri.length <= MAX_URL_CHARS ? { uri } : undefined),
  ping: () => ({}),
}

const MAX_NAME_CHARS = 200
const MAX_URL_CHARS = 8_192
/** No screen is larger. */
const MAX_PIXELS = 100_000

const pixels = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 ? Math.min(Math.ceil(value), MAX_PIXELS) : undefined

/** By method. */
export const READ_NOTIFICATION: { [Method in keyof AppNotifications]: Read<AppNotifications[Method]> } = {
  'ui/notifications/initialized': () => ({}),
  'ui/notifications/size-changed': ({ width, height }) => {
    const [wide, high] = [pixels(width), pixels(height)]
    return wide === undefined && high === undefined
      ? undefined
      : { ...(wide !== undefined && { width: wide }), ...(high !== undefined && { height: high }) }
  },
  'ui/notifications/request-teardown': () => ({}),
  'notifications/message': ({ level, logger, data }) =>
    LOG_LEVELS.includes(level as LogLevel) && data !== undefined
      ? { level: level as LogLevel, data, ...(typeof logger === 'string' && { logger }) }
      : undefined,
  'notifications/cancelled': ({ requestId }) =>
    typeof requestId === 'string' || typeof requestId === 'number' ? { requestId } : undefined,
}
