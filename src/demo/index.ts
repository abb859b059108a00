/** Example servers: for use, as sample code, and for tests of hosts. */

export { deployServer } from './deploy/server.ts'
export { filesServer } from './files/server.ts'
export { notesServer } from './notes/server.ts'
export { type RogueServer, rogueServer } from './rogue/server.ts'
