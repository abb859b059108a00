#!/usr/bin/env node
/** The `portico` command. Its extra dependencies are optional, so that a server can be installed without them. */

try {
  const { start } = await import('./start.ts')
  await start()
} catch (error) {
  const { code, message } = error as { code?: unknown; message: string }
  if (code !== 'ERR_MODULE_NOT_FOUND') throw error
  const [, name] = /Cannot find package '([^']+)'/.exec(message) ?? []
  if (name === undefined) throw error
  console.error(`portico: the command needs the package ${name}, which is not installed. Install portico without --omit=optional.`)
  process.exitCode = 1
}
