import { expect, test } from 'vitest'
import { loadParser } from '../../../src/host/policy/load-parser.ts'

const missing = Object.assign(new Error("Cannot find package 'yaml' imported from /app/x.js"), { code: 'ERR_MODULE_NOT_FOUND' })

test('a parser that is not installed is an error that says what to install', async () => {
  await expect(loadParser(() => Promise.reject(missing))).rejects.toMatchObject({
    code: 'ERR_CONFIG',
    message: 'Reading this file needs the package yaml, which is not installed; run: npm install yaml',
  })
})

test('a reader that is there is loaded, and its own errors stay as they are', async () => {
  expect(await loadParser(async () => 'reader')).toBe('reader')
  const broken = Object.assign(new Error('Cannot find module ./own.js'), { code: 'ERR_MODULE_NOT_FOUND' })
  for (const error of [broken, new SyntaxError('no')]) await expect(loadParser(() => Promise.reject(error))).rejects.toBe(error)
})
