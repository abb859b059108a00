/** Image types that models understand. */

const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** A provider refuses the whole request for other types, and with it every later request of the conversation. */
export const isPicture = (mediaType: string): boolean => PICTURES.has(mediaType.toLowerCase())
