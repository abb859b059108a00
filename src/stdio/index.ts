/** portico/stdio: servers as processes, from both ends of the pipe. */

export type { Target } from '../protocol/seams/link.ts'
export type { ProcessOptions } from './child.ts'
export { type ProcessTargetOptions, processTarget } from './connect.ts'
export { childEnvironment } from './environment.ts'
export { type ServeStdioOptions, type StdioServing, serveStdio } from './serve.ts'
