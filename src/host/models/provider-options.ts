/** What every provider needs to be told. */

import { McpError } from '../../protocol/errors.ts'
import type { AiSdkOptions } from './ai-sdk.ts'

export interface ProviderOptions extends Omit<AiSdkOptions, 'secrets'> {
  /** The name of the model, as the provider calls it. */
  model: string
  /** From the environment or the vault; it goes into the headers of requests and nowhere else. */
  apiKey?: string
  baseURL?: string
  /** Instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

/** Throws ERR_INSECURE for an address that a key would be sent to in the clear. */
export function checkBaseUrl(baseURL: string, apiKey: string | undefined): void {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new McpError('ERR_CONFIG', 'baseURL must be an http or https address, such as http://127.0.0.1:11434/v1')
  if (url.username !== '' || url.password !== '') throw new McpError('ERR_CONFIG', 'baseURL must not hold a password; use apiKey')
  if (url.protocol === 'http:' && apiKey !== undefined && !isLoopback(url.hostname))
    throw new McpError('ERR_INSECURE', `The key for ${url.host} would be sent unencrypted: baseURL must be https`)
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
