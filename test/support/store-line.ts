/** A store over a line, as workers use the store of the process that started them. */

import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { remoteStore, type SharedStore, type StorePort, serveStore } from '../../src/store/index.ts'

export const lineOf = (port: MessagePort): StorePort => ({
  send: (text) => port.postMessage(text),
  listen: (onText, onGone) => {
    port.on('message', onText).on('close', onGone)
  },
})

export function storeLine(store: SharedStore): { store: SharedStore; cut(): void } {
  const { port1, port2 } = new MessageChannel()
  serveStore(store, lineOf(port1))
  const remote = remoteStore(lineOf(port2))
  port1.unref()
  port2.unref()
  return { store: remote, cut: () => port1.close() }
}
