/** Pictures that models understand. */

const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** A picture of another type makes a provider refuse the whole request, and with it every later one of the conversation. */
export const isPicture = (mediaType: string): boolean => PICTURES.has(mediaType.toLowerCase())
