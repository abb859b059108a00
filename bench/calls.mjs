/** Makes many calls through a client, in memory or over stdio, in a separate process. Prints the CPU time per call. */

const [, , file, callsText, inFlightText, ...args] = process.argv
const calls = Number(callsText)
const inFlight = Number(inFlightText)
const { open } = await import(file)
const { call, close } = await open(...args.map((arg) => (arg.startsWith('[') ? JSON.parse(arg) : arg)))

async function burst(count) {
  let left = count
  const worker = async () => {
    while (left-- > 0) {
      const text = `hello ${left}`
      const { content } = await call(text)
      if (content[0].text !== text) throw new Error(`A wrong answer: ${JSON.stringify(content)}`)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
}

await burst(3000)
const before = process.cpuUsage()
await burst(calls)
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ cpu: (user + system) / calls }))
await close()
process.exit(0)
