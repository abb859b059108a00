/** The text that a caller gets instead of an error of the author's code. */

/** @param reference finds the error in the log of the server */
export const internalErrorText = (reference: string): string => `Internal error (reference ${reference})`

const TEXT = /^Internal error \(reference ([\w-]{1,64})\)$/

/** The reference in such a text. */
export const referenceIn = (text: unknown): string | undefined => (typeof text === 'string' ? TEXT.exec(text)?.[1] : undefined)
