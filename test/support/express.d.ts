/** As much of Express as tests use; it comes without types. */
declare module 'express' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Express {
    (request: IncomingMessage, response: ServerResponse): void
    use(...handlers: unknown[]): Express
    all(path: string | string[], handler: (request: IncomingMessage & { body: unknown }, response: ServerResponse) => void): Express
  }
  const express: {
    (): Express
    json(): unknown
    raw(options: { type: string }): unknown
    Router(): Express
  }
  export default express
}
