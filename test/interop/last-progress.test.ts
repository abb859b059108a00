/** The official clients forget a request with its answer, before they hand on the progress that came with it. */

import { Client as V2Client } from '@modelcontextprotocol/client'
import { StdioClientTransport as V2Stdio } from '@modelcontextprotocol/client/stdio'
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as V1Stdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, test } from 'vitest'
import { fixture } from '../support/stdio-process.ts'

const INFO = { name: 'test', version: '1' }
const SERVER = { command: process.execPath, args: [fixture('server.mjs')] }
const CALL = { name: 'steps', arguments: { count: 3 } }
const CALLS = 20
/** A machine that is busy may still read both at once; without the gap not one call is complete. */
const ENOUGH = 5

interface TheirCaller {
  call(onprogress: (notice: { progress: number }) => void): Promise<unknown>
  close(): Promise<void>
}

const openV1 = async (): Promise<TheirCaller> => {
  const client = new V1Client(INFO)
  await client.connect(new V1Stdio(SERVER))
  return { call: (onprogress) => client.callTool(CALL, undefined, { onprogress }), close: () => client.close() }
}

const openV2 = async (): Promise<TheirCaller> => {
  const client = new V2Client(INFO)
  await client.connect(new V2Stdio(SERVER))
  return { call: (onprogress) => client.callTool(CALL, { onprogress }), close: () => client.close() }
}

test.each([
  ['v1', openV1],
  ['v2', openV2],
])('the last progress of a call reaches the official client %s over stdio', async (_name, open) => {
  const { call, close } = await open()
  try {
    let complete = 0
    for (let i = 0; i < CALLS; i++) {
      const heard: number[] = []
      await call(({ progress }) => heard.push(progress))
      if (heard.join() === '1,2,3') complete++
    }
    expect(complete).toBeGreaterThanOrEqual(ENOUGH)
  } finally {
    await close()
  }
})
