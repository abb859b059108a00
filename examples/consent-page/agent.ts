/** An agent whose chat and questions are in a web page, at 127.0.0.1. Only who has the key in its address can use it. */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Conversation, createHost, type Model } from 'portico/host'
import { z } from 'zod'
import { notesServer } from './notes.ts'
import { WaitingQuestions } from './questions.ts'

export interface Agent {
  /** The address for the browser, with the key. */
  url: string
  close(): Promise<void>
}

const MAX_BODY_BYTES = 64 * 1024
const message = z.object({ text: z.string().min(1) })
const click = z.object({ id: z.string(), button: z.enum(['no', 'once', 'always']), feedback: z.string().max(1000).optional() })

export async function startAgent({ model, folder, port = 0 }: { model: Model; folder: string; port?: number }): Promise<Agent> {
  const questions = new WaitingQuestions()
  const host = await createHost({ servers: { notes: notesServer() }, model, ask: questions, folder })
  await host.settled()
  const conversation = new Conversation()
  const page = await readFile(new URL('page.html', import.meta.url))
  const key = randomBytes(32).toString('base64url')

  const http = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      if (!response.headersSent) response.writeHead(400, { 'content-type': 'text/plain' })
      response.end(error.message)
    })
  })
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(http.address() as AddressInfo).port}`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page of another site cannot send these: the browser sets Host, and other sites do not know the key.
    if (request.headers.host !== address) return void response.writeHead(403).end()
    const path = `${request.method} ${new URL(request.url ?? '/', `http://${address}`).pathname}`
    if (path === 'GET /') return void response.writeHead(200, PAGE_HEADERS).end(page)
    if (!isSame(request.headers['x-key'], key)) return void response.writeHead(401).end()
    if (path === 'GET /questions') return json(response, questions.cards)
    if (path === 'POST /answer') return json(response, { isAnswered: questions.answer(click.parse(await bodyOf(request))) })
    if (path !== 'POST /chat') return void response.writeHead(404).end()

    const { text } = message.parse(await bodyOf(request))
    const left = new AbortController()
    response.on('close', () => left.abort())
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    for await (const part of host.chat(text, { conversation, signal: left.signal })) response.write(`${JSON.stringify(part)}\n`)
    response.end()
  }

  return {
    url: `http://${address}/#${key}`, // what follows # is not sent to a server and does not appear in logs
    close: async () => {
      http.closeAllConnections()
      http.close()
      await host.close()
    },
  }
}

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'",
  'cache-control': 'no-store',
}

const json = (response: ServerResponse, body: unknown): void =>
  void response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(JSON.stringify(body))

function isSame(given: string | string[] | undefined, key: string): boolean {
  return typeof given === 'string' && given.length === key.length && timingSafeEqual(Buffer.from(given), Buffer.from(key))
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error(`Expected at most ${MAX_BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString())
}
