/** Arguments that a tool runs, by their name: what stands in them is never hidden, and never granted by its shape. */

export const isCodeName = (name: string): boolean => CODE_NAME.test(name)

const CODE_NAME = /command|cmd|script|code|sql|query|expression|shell|eval|program|regex/i
