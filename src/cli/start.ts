/** Starts the command: output, warnings, exit code. */

import cluster from 'node:cluster'
import { exitCode } from './exit-codes.ts'
import { processIo } from './io.ts'
import { main } from './main.ts'
import { safe } from './output/safe-text.ts'
import { Screen } from './output/screen.ts'

/** Runs the command with the arguments of this process and sets its exit code. */
export async function start(): Promise<void> {
  const io = processIo()
  const screen = new Screen(io)
  // Node would write its own warnings into the middle of a question.
  process.removeAllListeners('warning').on('warning', ({ name, message }) => screen.note(safe`! ${name}: ${message}`))
  const code = await main(process.argv.slice(2), io)
  process.exitCode = code
  // The channel to the primary process would keep a worker that could not serve alive, and nothing would replace it.
  if (cluster.isWorker && code !== exitCode('ok')) process.exit()
}
