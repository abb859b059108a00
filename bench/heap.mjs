/** Lets the benchmark ask a contestant's process for its heap size after garbage collection. Needs --expose-gc. */

process.on('message', (message) => {
  if (message !== 'heap') return
  globalThis.gc()
  globalThis.gc()
  process.send(process.memoryUsage().heapUsed)
})
