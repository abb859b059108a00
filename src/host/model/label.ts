/** Labels that data carries from where it came from, and what it means when they meet. */

/** May contain instructions of somebody who is not the person. */
export const UNTRUSTED = 'untrusted'
/** Goes somewhere the person does not control. Of a server or a tool, not of data. */
export const EGRESS = 'egress'
/** `private:mail`, `private:*`: belongs to a set of data that is nobody else's business. */
export const PRIVATE = 'private:'

export const isPrivate = (label: string): boolean => label.startsWith(PRIVATE)
