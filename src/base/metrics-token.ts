/** What the token of `/metrics` must be. A shorter one can be guessed, and no header can contain others. */

export const METRICS_TOKEN_RULES = 'at least 16 characters, only visible ASCII (openssl rand -base64 24)'

export const isMetricsToken = (value: unknown): boolean => typeof value === 'string' && /^[!-~]{16,}$/.test(value)
