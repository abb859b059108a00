/** A client with the extension takes changes back. A client without it uses the tools as always. */

import { connect } from 'portico'
import { listen } from 'portico/http'
import { notesServer } from './notes.ts'
import { UNDO, undoClient } from './undo.ts'

const { url, close } = await listen(notesServer())
const heard: number[] = []
let onHeard = (): void => {}
const client = await connect(url, {
  use: [
    undoClient((left) => {
      heard.push(left)
      onHeard()
    }),
  ],
})
console.log('The server declares', client.server.capabilities.extensions)
await client.subscribe('undo', true)

await client.call('add', { text: 'Buy milk' })
await client.call('remove', { text: 'Buy milk' })
console.log(await client.request(UNDO, {}))
console.log((await client.call('list')).content)

// Notifications travel on a stream of their own, so they can arrive after the answers.
while (heard.length < 3) await new Promise<void>((resolve) => (onHeard = resolve))
console.log('Changes that can be taken back, as the client heard:', heard)
await client.close()

const plain = await connect(url)
console.log('Without the extension:', (await plain.call('list')).content)
await plain.close()
await close()
