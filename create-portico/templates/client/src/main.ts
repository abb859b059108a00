/** Connects to the server of the command line: `main.ts URL` or `main.ts -- COMMAND ...`. */

import { connect } from 'portico'
import { describe } from './client.ts'

const words = process.argv.slice(2).filter((word) => word !== '--')
const [first, ...rest] = words
if (first === undefined) {
  console.error('Give the URL of a server, or the command that starts it')
  process.exit(2)
}
const client = await connect(/^https?:/.test(first) ? first : { command: first, args: rest }, {
  // The server may ask questions. This program declines them.
  answer: { elicit: () => ({ action: 'decline' }) },
})
try {
  console.log(await describe(client))
} finally {
  await client.close()
}
