/**
 * Transcripts: what a client sends and what the everything server answers, one file a revision and feature.
 * Lines with > are sent in order, each when everything before it has been said; lines with < are what comes back.
 * `UPDATE_WIRE=1 npx vitest run test/wire.test.ts` writes the answers anew.
 */

import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { everythingServer } from '../src/testing/index.ts'
import { Judge } from './support/published-schemas.ts'
import { type Message, type RawChannel, rawChannel } from './support/raw-channel.ts'
import { testTranscripts } from './support/transcripts.ts'

testTranscripts(fileURLToPath(new URL('./wire/', import.meta.url)), play)

async function play(lines: readonly string[], revision: string): Promise<string[]> {
  const options = lines.find((line) => line.startsWith('# server: '))?.slice('# server: '.length)
  const raw = rawChannel(everythingServer({ ...(options ? JSON.parse(options) : {}), onError: () => {} }))
  // What was announced while the server was made is nobody's news.
  await pause()
  const judge = new Judge(revision)
  const written = lines.filter((line) => line.startsWith('#'))
  const last = { state: '', cursor: '', task: '' }
  // The published schemas do not know extensions.
  const isJudged = !lines.some((line) => line.startsWith('# extension'))
  for (const line of lines.filter((each) => each.startsWith('> '))) {
    written.push(line)
    const json = line
      .slice(2)
      .replace('"$state"', JSON.stringify(last.state))
      .replace('"$cursor"', JSON.stringify(last.cursor))
      .replace('"$task"', JSON.stringify(last.task))
    follow(judge, json)
    const before = raw.out.length
    raw.send(json)
    await answered(raw, json, before)
    for (const message of raw.out.slice(before)) {
      if (isJudged) judge.judge({ from: 'server', json: JSON.stringify(message) })
      const result = (Array.isArray(message) ? {} : message.result) ?? {}
      last.state = result.requestState ?? last.state
      last.cursor = result.nextCursor ?? last.cursor
      last.task = result.task?.taskId ?? result.taskId ?? last.task
      written.push(`< ${stable(JSON.stringify(message))}`)
    }
  }
  expect(judge.faults.join('\n')).toBe('')
  raw.channel.close('The transcript is over')
  return written
}

/** A transcript may hold what no client should send; the judge has to know of it all the same. */
function follow(judge: Judge, json: string): void {
  try {
    judge.follow({ from: 'client', json })
  } catch {
    // Not JSON: that is what the transcript is about.
  }
}

/** Resolves when a request is answered, or questions are asked about it, and nothing more is said for a moment. */
async function answered(raw: RawChannel, json: string, from: number): Promise<void> {
  const owed = /^\{.*"method":"(?!notifications)/.test(json) && !json.includes('"name":"wait"')
  const isReply = (message: Message): boolean =>
    Array.isArray(message) ||
    message.id !== undefined ||
    message.error !== undefined ||
    message.method === 'notifications/subscriptions/acknowledged'
  if (owed) while (!raw.out.slice(from).some(isReply)) await pause()
  // A task goes on after its answer.
  const isTask = ({ result }: Message): boolean => result?.task !== undefined || result?.resultType === 'task'
  if (raw.out.slice(from).some(isTask)) await pause(200)
  for (let length = -1; length !== raw.out.length; ) {
    length = raw.out.length
    await pause()
  }
}

const pause = (ms = 5): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** What differs from run to run by design. */
const stable = (json: string): string =>
  json
    .replace(/"requestState":"[^"]+"/g, '"requestState":"<sealed>"')
    .replace(/"nextCursor":"[^"]+"/g, '"nextCursor":"<opaque>"')
    .replace(/\(reference [\w-]{8}\)/g, '(reference <random>)')
    .replace(/"elicitationId":"[\w-]{22}"/g, '"elicitationId":"<random>"')
    .replace(/"taskId":"[\w-]{22}"/g, '"taskId":"<random>"')
    .replace(/"(createdAt|lastUpdatedAt)":"[^"]+"/g, '"$1":"<time>"')
