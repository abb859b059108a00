/** Lets the bench ask a contestant's process how much it holds after everything unused is gone. Needs --expose-gc. */

process.on('message', (message) => {
  if (message !== 'heap') return
  globalThis.gc()
  globalThis.gc()
  process.send(process.memoryUsage().heapUsed)
})
