/** As much of Express as tests and examples use; it comes without types. */
declare module 'express' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http'

  type Handler = (request: IncomingMessage & { body: unknown }, response: ServerResponse & { json(body: unknown): void }) => void

  export interface Express {
    (request: IncomingMessage, response: ServerResponse): void
    use(...handlers: unknown[]): Express
    all(path: string | string[], handler: Handler): Express
    get(path: string, handler: Handler): Express
    listen(port: number, host: string, onListening?: () => void): Server
  }
  const express: {
    (): Express
    json(): unknown
    raw(options: { type: string }): unknown
    Router(): Express
  }
  export default express
}
