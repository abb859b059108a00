// Made by "portico generate client". Changes are lost when it is made again.

import type { CallOptions, Client, ToolResult } from 'portico'

export type DeleteToolInput = {
  id: string | number
}
export type DeleteToolOutput = unknown
export const deleteTool = (client: Client, args: DeleteToolInput, options?: CallOptions): Promise<ToolResult<DeleteToolOutput>> =>
  client.call<DeleteToolOutput>('delete', args, options)

export type PingInput = Record<string, never>
export type PingOutput = unknown
export const ping = (client: Client, args: PingInput = {}, options?: CallOptions): Promise<ToolResult<PingOutput>> =>
  client.call<PingOutput>('ping', args, options)

export type SearchBooksInput = {
  /** Words of the title */
  query: string
  limit?: number
  kind?: 'novel' | 'poetry'
  tags?: string[]
  'published-in'?: {
    from: number
    to: number | null
  }
}
export type SearchBooksOutput = {
  titles: Array<{
    title: string
    year: number
  }>
}
/**
 * Finds books.
 *
 * The newest come first.
 */
export const searchBooks = (client: Client, args: SearchBooksInput, options?: CallOptions): Promise<ToolResult<SearchBooksOutput>> =>
  client.call<SearchBooksOutput>('search-books', args, options)
