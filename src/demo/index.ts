/** Servers to use, to learn from and to test hosts with. */

export { deployServer } from './deploy/server.ts'
export { filesServer } from './files/server.ts'
export { notesServer } from './notes/server.ts'
export { type RogueServer, rogueServer } from './rogue/server.ts'
