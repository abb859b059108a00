import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Incoming } from '../../src/jsonrpc/message.ts'
import type { Link } from '../../src/protocol/interfaces/link.ts'
import { type ProcessTargetOptions, processTarget } from '../../src/stdio/index.ts'
import { isAlive, untilGone } from '../support/processes.ts'

interface Opened {
  link: Link
  messages: Incoming[]
  warnings: string[]
  /** What the connection ended with: an entry for each time that was said. */
  ends: (Error | undefined)[]
}

/** A connection to a process that runs `script`. */
async function opened(script: string, options: Partial<ProcessTargetOptions> = {}): Promise<Opened> {
  const messages: Incoming[] = []
  const warnings: string[] = []
  const ends: (Error | undefined)[] = []
  const target = processTarget({
    command: process.execPath,
    args: ['-e', script],
    shutdownMs: 500,
    onWarning: (message) => warnings.push(message),
    ...options,
  })
  const link = await target.open()
  onTestFinished(() => link.close())
  link.start({
    onMessage: (message) => messages.push(message),
    onLost: () => {},
    onForgotten: () => {},
    onClose: (error) => ends.push(error),
  })
  return { link, messages, warnings, ends }
}

/** A process may take long to start on a busy machine. */
const eventually = <T>(read: () => T): ReturnType<typeof expect.poll<T>> => expect.poll(read, { timeout: 10_000 })

const HELLO = '{"jsonrpc":"2.0","method":"notifications/hello","params":{"pid":PID}}'
/** Says its process id in a message. */
const GREET = `console.log('${HELLO}'.replace('PID', process.pid));`
const STAY = 'process.stdin.resume();'

async function pidOf({ messages }: Opened): Promise<number> {
  await eventually(() => messages.length).toBeGreaterThan(0)
  return (messages[0] as unknown as { params: { pid: number } }).params.pid
}

describe('the end of a connection to a process', () => {
  test('the end of a process is reported once, with only the exit code when it wrote nothing', async () => {
    const { ends } = await opened('process.exit(3)')
    await eventually(() => ends).toHaveLength(1)
    expect(ends[0]).toMatchObject({ code: 'ERR_EXIT', message: expect.stringMatching(/exited with code 3$/) })
    await sleep(100)
    expect(ends).toHaveLength(1)
  })

  test('the end is reported once for a process that was abandoned and then exits', async () => {
    const connection = await opened(`${GREET} ${STAY} console.log('no message')`, { maxGarbageLines: 1 })
    const { ends } = connection
    const pid = await pidOf(connection)
    await eventually(() => ends).toHaveLength(1)
    await untilGone(pid, 10_000)
    // Longer than an exit takes to be told.
    await sleep(100)
    expect(ends).toMatchObject([{ code: 'ERR_LIMIT' }])
  })

  test('the end is reported once for a process whose child held its output open', async () => {
    const child = `require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'inherit', 'ignore'] });`
    const connection = await opened(`${child} ${GREET} process.stdin.once('data', () => process.exit(5));`)
    const { link, ends } = connection
    await pidOf(connection)
    link.send('{}')
    await eventually(() => ends).toHaveLength(1)
    // The child ends, and so does the output.
    await sleep(300)
    expect(ends).toMatchObject([{ code: 'ERR_EXIT', message: expect.stringMatching(/exited with code 5$/) }])
  })

  test.each([
    ['process.exit(4)', 'exited with code 4'],
    ['process.kill(process.pid, "SIGKILL")', 'was ended by SIGKILL'],
  ])('the end is reported for a process that ended by %s before a listener was added', async (script, words) => {
    const target = processTarget({ command: process.execPath, args: ['-e', script] })
    const link = await target.open()
    await sleep(500)
    const ended = new Promise((resolve) => link.start({ onMessage() {}, onLost() {}, onForgotten() {}, onClose: resolve }))
    expect(await ended).toMatchObject({ code: 'ERR_EXIT', message: expect.stringContaining(words) })
  })

  test('the end is not reported after a close by the caller, and nothing is delivered then', async () => {
    const late = `process.stdin.on('end', () => { console.log('no message'); ${GREET} }).resume();`
    const connection = await opened(`${GREET} ${late}`)
    const { link, messages, warnings, ends } = connection
    const pid = await pidOf(connection)
    await link.close()
    expect(isAlive(pid)).toBe(false)
    await sleep(100)
    expect([ends, warnings, messages.length]).toEqual([[], [], 1])
  })

  test('the end of a connection leaves no timer that keeps this process alive', async () => {
    const connection = await opened(`${GREET} ${STAY}`, { shutdownMs: 60_000 })
    await pidOf(connection)
    const made = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => made.mockRestore())
    await connection.link.close()
    // A timer that has fired or was cleared is destroyed.
    const open = (): unknown[] =>
      made.mock.results.filter(({ value }) => value.hasRef() && !(value as unknown as { _destroyed: boolean })._destroyed)
    expect(made.mock.calls.length).toBeGreaterThan(0)
    await eventually(open).toEqual([])
  })

  test('messages to a closed connection are dropped, and no other process is ended', async () => {
    const connection = await opened(`${GREET} ${STAY}`)
    await pidOf(connection)
    await connection.link.close()
    connection.link.send('{"jsonrpc":"2.0","method":"notifications/late"}')
    await connection.link.close()
    expect(connection.ends).toEqual([])
  })

  test('closing does not wait for a process that does not read', async () => {
    const connection = await opened(`${GREET} setInterval(() => {}, 1000)`, { shutdownMs: 50 })
    const pid = await pidOf(connection)
    connection.link.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/long', params: { text: 'x'.repeat(1 << 20) } }))
    await connection.link.close()
    await untilGone(pid, 10_000)
    expect(connection.ends).toEqual([])
  })
})

describe('lines that are not messages', () => {
  const NOT_UTF8 = `process.stdout.write(Buffer.from([0xff, 0x0a]));`
  const garbled = `process.stdout.write(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"notifications/a","params":{"text":"'), Buffer.from([0xff]), Buffer.from('"}}\\n')]));`

  test('lines that are not UTF-8 are counted as lines that are not messages', async () => {
    const { ends, warnings } = await opened(`${NOT_UTF8} console.log('words'); ${NOT_UTF8} ${STAY}`, { maxGarbageLines: 3 })
    await eventually(() => ends).toHaveLength(1)
    expect(ends).toMatchObject([{ code: 'ERR_LIMIT', message: expect.stringContaining('the last: bytes that are not UTF-8') }])
    expect(warnings).toHaveLength(3)
  })

  test.each([
    ['a message', GREET],
    ['a message with bytes that are not UTF-8', garbled],
  ])('the count of lines that are not messages restarts after %s', async (_what, message) => {
    const two = `console.log('one\\ntwo');`
    const { ends, messages } = await opened(`${two} ${message} ${two} ${GREET} ${STAY}`, { maxGarbageLines: 3 })
    await eventually(() => messages).toHaveLength(2)
    expect(ends).toEqual([])
  })

  test('lines that are not messages are reported ten times, and the tenth says that it is the last', async () => {
    const { warnings, messages } = await opened(`for (let i = 1; i <= 12; i++) console.log('line ' + i); ${GREET} ${STAY}`)
    await eventually(() => messages).toHaveLength(1)
    expect(warnings).toHaveLength(10)
    expect(warnings.filter((warning) => warning.includes('further warnings of this kind are dropped'))).toEqual([warnings[9]])
  })
})
