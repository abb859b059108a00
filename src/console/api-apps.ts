/** Views of tools in the console's API. */

import type { CallToolResult } from '../client/index.ts'
import type { NameOf } from './api-views.ts'

/** A view to show. */
export interface NewApp {
  tool: NameOf
  args?: Record<string, unknown>
  /** The result that it shows. */
  result?: CallToolResult
  /** The conversation with the call. Default: none; then the view cannot send messages to a chat. */
  conversation?: string
  /** The person lets it contact the addresses that it declares. Default: false. */
  allowsAddresses?: boolean
  theme?: 'light' | 'dark'
}

/** A view that is shown. */
export interface AppView {
  id: string
  server: string
  tool: string
  /** Where its frame is: the port of the listener for views, and a path there. */
  frame: { port: number; path: string }
  html: string
  /** The addresses that it declares. They are blocked unless `allowsAddresses`. */
  addresses: readonly string[]
  /** Those of them whose pages it wants to show inside of it. Such a page can contact every address. */
  framed: readonly string[]
  /** Declared addresses that are always blocked. */
  refused: readonly string[]
  allowsAddresses: boolean
  prefersBorder: boolean
}

/** A message to a view, with its number. */
export interface AppMessage {
  seq: number
  message: object
}

/** Something happened to a view: new messages to fetch, its size, a message for the chat, or its end. */
export interface AppEvent {
  id: string
  /** The number of the newest message to it. */
  seq?: number
  size?: { width?: number; height?: number }
  /** The person agreed to send this text to the chat. */
  said?: string
  /** What it tells the model has changed: see the contexts of the conversation. */
  hasContext?: true
  /** It asks to be closed. */
  wantsToClose?: true
  /** Why it ended. */
  end?: string
}
