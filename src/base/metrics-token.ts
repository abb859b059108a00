/** The rules for the token of `/metrics`. A shorter token can be guessed. A header cannot contain other characters. */

export const METRICS_TOKEN_RULES = 'at least 16 characters, only visible ASCII (openssl rand -base64 24)'

export const isMetricsToken = (value: unknown): boolean => typeof value === 'string' && /^[!-~]{16,}$/.test(value)
