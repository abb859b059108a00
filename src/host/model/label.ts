/** The labels of data, which follow it from its origin. */

/** The data may contain instructions that are not from the person. */
export const UNTRUSTED = 'untrusted'
/** A server or tool that sends data to a place that the person does not control. */
export const EGRESS = 'egress'
/** `private:mail`, `private:*`: private data of the person. */
export const PRIVATE = 'private:'

/** `skill:docs`: the conversation uses a skill of the server docs. */
export const SKILL = 'skill:'

export const isPrivate = (label: string): boolean => label.startsWith(PRIVATE)
