/** What every contestant's HTTP server is told on its command line. */

export const isSse = process.argv.includes('--sse')
export const toolCount = Number(process.argv.find((arg) => arg.startsWith('--tools='))?.slice(8) ?? 20)
/** A result of 1 MiB, and 10 MiB of bytes. */
export const big = 'x'.repeat(1024 * 1024)
export const bytes = Buffer.alloc(10 * 1024 * 1024, 7)

export const say = (port) => console.log(`listening on http://127.0.0.1:${port}/mcp`)
