/** Servers to use, to learn from and to test hosts with. */

export { type DeployOptions, type DeployServer, deployServer } from './deploy/server.ts'
export { type FilesOptions, filesServer } from './files/server.ts'
export { type NotesOptions, notesServer } from './notes/server.ts'
export { type Misbehaviour, type RogueOptions, type RogueServer, rogueServer } from './rogue/server.ts'
