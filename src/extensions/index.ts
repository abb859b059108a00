/** portico/extensions: your own extensions of the protocol, for servers and clients. */

export type { ClientExtension } from '../client/extension.ts'
export type { Settings } from '../protocol/model/lifecycle.ts'
export type { ExtensionHandle, ServerExtension } from '../server/addition.ts'
export { type ClientExtensionDefinition, clientExtension } from './client-extension.ts'
export type { MethodSchemas } from './definition.ts'
export {
  type ExtensionContext,
  extensionMethod,
  type ServedMethod,
  type ServerExtensionDefinition,
  serverExtension,
} from './server-extension.ts'
