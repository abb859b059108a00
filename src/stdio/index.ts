/** portico/stdio: serving on standard input and output, and connecting to server processes. */

export type { Target } from '../protocol/interfaces/link.ts'
export type { ProcessOptions } from './child.ts'
export { type ProcessTargetOptions, processTarget } from './connect.ts'
export { childEnvironment } from './environment.ts'
export { type ServeStdioOptions, type StdioServing, serveStdio } from './serve.ts'
