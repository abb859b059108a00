/** Options that all providers share. */

import { McpError } from '../../protocol/errors.ts'
import type { AiSdkOptions } from './ai-sdk.ts'

export interface ProviderOptions extends Omit<AiSdkOptions, 'secrets'> {
  /** The provider's name of the model. */
  model: string
  /** The API key. It is only sent in request headers. */
  apiKey?: string
  baseURL?: string
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

/** Throws ERR_INSECURE if the key would be sent unencrypted. */
export function checkBaseUrl(baseURL: string, apiKey: string | undefined): void {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new McpError('ERR_CONFIG', 'baseURL must be an http or https address, such as http://127.0.0.1:11434/v1')
  if (url.username !== '' || url.password !== '') throw new McpError('ERR_CONFIG', 'baseURL must not contain a password; use apiKey')
  // It is stored and shown in plain text, and may contain a key.
  if (url.search !== '' || url.hash !== '') throw new McpError('ERR_CONFIG', 'baseURL must end with its path, without a query; use apiKey')
  if (url.protocol === 'http:' && apiKey !== undefined && !isLoopback(url.hostname))
    throw new McpError('ERR_INSECURE', `The key for ${url.host} would be sent unencrypted: baseURL must be https`)
}

/** A redirect would take the key and the conversation to an address that was not configured. */
export const withoutRedirects =
  (fetch: typeof globalThis.fetch = globalThis.fetch): typeof globalThis.fetch =>
  (input, init) =>
    fetch(input, { ...init, redirect: 'error' })

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
