import { expect, test } from 'vitest'
import { loadParser } from '../../../src/host/policy/load-parser.ts'

const missing = Object.assign(new Error("Cannot find package 'yaml' imported from /app/x.js"), { code: 'ERR_MODULE_NOT_FOUND' })

test('if a parser is not installed, the error says what to install', async () => {
  await expect(loadParser(() => Promise.reject(missing))).rejects.toMatchObject({
    code: 'ERR_CONFIG',
    message: 'Reading this file needs the package yaml, which is not installed; run: npm install yaml',
  })
})

test('an installed parser is loaded, and its own errors stay unchanged', async () => {
  expect(await loadParser(async () => 'reader')).toBe('reader')
  const broken = Object.assign(new Error('Cannot find module ./own.js'), { code: 'ERR_MODULE_NOT_FOUND' })
  for (const error of [broken, new SyntaxError('no')]) await expect(loadParser(() => Promise.reject(error))).rejects.toBe(error)
})
