import { expect, test } from 'vitest'
import { memoryIo } from './support/memory-io.ts'

const MIB = 1024 * 1024

test('output during a question waits for the answer, in order, and temporary drawings are dropped', async () => {
  const io = memoryIo({ isTTY: true })
  await io.terminal.ask(async (own) => {
    io.terminal.write(io.stderr, 'first\n')
    io.terminal.showTransient(io.stderr, '50%')
    own.write(io.stderr, 'question\n')
    io.terminal.write(io.stderr, 'second\n')
    expect(io.err()).toBe('question\n')
  })
  expect(io.err()).toBe('question\nfirst\nsecond\n')
})

test('waiting output is bounded, and the number of lines left out is printed', async () => {
  const io = memoryIo({ isTTY: true })
  await io.terminal.ask(async () => {
    io.terminal.write(io.stderr, 'x'.repeat(MIB))
    io.terminal.write(io.stderr, 'one more')
  })
  expect(io.err()).toBe(`${'x'.repeat(MIB)}(8 more bytes of output during the question were dropped)\n`)
})

test('output to a file does not wait for a question', async () => {
  const io = memoryIo()
  await io.terminal.ask(async () => {
    io.terminal.write(io.stdout, 'result\n')
    expect(io.out()).toBe('result\n')
  })
})

test('a failed question releases the terminal for the next one', async () => {
  const io = memoryIo({ isTTY: true })
  const failed = io.terminal.ask(async () => {
    throw new Error('no')
  })
  const next = io.terminal.ask(async (own) => own.write(io.stderr, 'next\n'))
  await expect(failed).rejects.toThrow('no')
  await next
  io.terminal.write(io.stderr, 'after\n')
  expect(io.err()).toBe('next\nafter\n')
})
