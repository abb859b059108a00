/** The command-line arguments of every contestant's HTTP server, and the data that it serves. */

export const isSse = process.argv.includes('--sse')
export const toolCount = Number(process.argv.find((arg) => arg.startsWith('--tools='))?.slice(8) ?? 20)
/** A text of 1 MiB and a resource of 10 MiB. */
export const big = 'x'.repeat(1024 * 1024)
export const bytes = Buffer.alloc(10 * 1024 * 1024, 7)

export const say = (port) => console.log(`listening on http://127.0.0.1:${port}/mcp`)
