/** Recognizes arguments that contain code by their name. Code is never hidden in questions, and never granted by a pattern. */

export const isCodeName = (name: string): boolean => CODE_NAME.test(name)

const CODE_NAME = /command|cmd|script|code|sql|query|expression|shell|eval|program|regex/i
