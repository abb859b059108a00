/** Starts the command: output, warnings, exit code. */

import { processIo } from './io.ts'
import { main } from './main.ts'
import { safe } from './output/safe-text.ts'
import { Screen } from './output/screen.ts'

/** Runs the command with the arguments of this process and sets its exit code. */
export async function start(): Promise<void> {
  // The reader of our output may close it early, as `head` does. That is not an error.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0)
    })
  }
  const io = processIo()
  const screen = new Screen(io)
  // Node would write its own warnings into the middle of a question.
  process.removeAllListeners('warning').on('warning', ({ name, message }) => screen.note(safe`! ${name}: ${message}`))
  process.exitCode = await main(process.argv.slice(2), io)
}
