/** The demo: starts the server beside it, calls its tool, shows progress, and puts its question to you. */

import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { connect } from 'portico'

const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
const bold = (text) => (isTerminal ? `\u001b[1m${text}\u001b[0m` : text)
const dim = (text) => (isTerminal ? `\u001b[2m${text}\u001b[0m` : text)
const script = fileURLToPath(new URL('./server.mjs', import.meta.url))

console.log(bold('Portico demo'))
console.log(dim('Our client starts our server as a process, calls a tool, and answers its question.\n'))

const client = await connect({ command: process.execPath, args: [script] }, { answer: { elicit: askPerson } })
console.log(`Connected to ${bold(client.server.info.title)} over stdio, speaking ${bold(client.revision)}.`)
for await (const tool of client.tools()) console.log(`It offers the tool ${bold(tool.name)}: ${tool.description}.`)

console.log(`\nCalling ${bold('berth')} for the ship Aurora ...`)
const result = await client.call('berth', { ship: 'Aurora' }, { onProgress: showProgress })
console.log(`\n${bold('Answer:')} ${result.content.map((block) => block.text).join('\n')}`)
await client.close()

console.log('\nThe same server, the same handler, in every protocol revision:')
for (const revision of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
  const old = await connect(
    { command: process.execPath, args: [script] },
    { revisions: [revision], answer: { elicit: () => ({ action: 'accept', content: { nights: 2, power: true } }) } },
  )
  const outcome = await old.call('berth', { ship: 'Aurora' }).then(
    (answer) => answer.content[0].text,
    (error) => dim(`${error.message}: this revision cannot ask a person`),
  )
  console.log(`  ${revision}  ${outcome}`)
  await old.close()
}
console.log(dim('\nNext: README.md has a server and a client of ten lines each.'))

function showProgress({ progress, total, message }) {
  const width = 24
  const filled = Math.round((progress / total) * width)
  console.log(`  [${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${progress}/${total}  ${message}`)
}

/** Puts the server's form to the person; without a terminal the defaults are taken, and shown. */
async function askPerson({ message, schema }, { server }) {
  console.log(`\n${bold(server)} asks: ${message}`)
  const content = {}
  const terminal = isTerminal ? createInterface({ input: process.stdin, output: process.stdout }) : undefined
  for (const [name, field] of Object.entries(schema.properties)) {
    const typed = terminal ? (await terminal.question(`  ${field.title ?? name} [${field.default}]: `)).trim() : ''
    content[name] = typed === '' ? field.default : read(typed, field)
    if (!terminal) console.log(`  ${field.title ?? name}: ${content[name]} ${dim('(the default: there is no terminal to ask at)')}`)
  }
  terminal?.close()
  return { action: 'accept', content }
}

function read(typed, field) {
  if (field.type === 'boolean') return /^(y|yes|true|1)$/i.test(typed)
  return field.type === 'string' ? typed : Number(typed)
}
