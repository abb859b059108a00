/** The servers that come with portico, by name. */

export const SERVED = ['files', 'notes', 'deploy', 'rogue', 'everything'] as const

export type ServedName = (typeof SERVED)[number]
