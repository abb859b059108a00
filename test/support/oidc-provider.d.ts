/** As much of oidc-provider as tests and examples use; it comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }
  interface Context {
    body: unknown
    oidc?: {
      route?: string
      params?: Record<string, unknown>
      requestParamScopes: Set<string>
      resourceServers?: Record<string, { scopes: Set<string> }>
      client: { clientId: string; grantTypeAllowed(type: string): boolean }
      session: { accountId: string; grantIdFor(clientId: string): string | undefined }
      provider: Provider
    }
  }
  class Provider {
    constructor(issuer: string, configuration: object)
    Grant: { new (of: { accountId: string; clientId: string }): Grant; find(id: string): Promise<Grant | undefined> }
    Client: { find(id: string): Promise<{ clientName?: string } | undefined> }
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    use(middleware: (ctx: Context, next: () => Promise<void>) => Promise<void>): void
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<{ uid: string; params: Record<string, unknown> }>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
  const errors: { InvalidTarget: new () => Error }
}
