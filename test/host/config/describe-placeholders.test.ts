// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what this is about

import { expect, test } from 'vitest'
import { describePlaceholders } from '../../../src/host/config/describe-placeholders.ts'

test('each placeholder of a process is described once, with the place of its value', () => {
  const transport = {
    type: 'stdio',
    command: '${env:TOOLS}/server',
    args: ['--key', '${secret:KEY}', 'plain ${$}{env:NONE}'],
    env: { 'A.B': '${input:token} ${input:token}' },
    cwd: '${env:PROJECT:-/home}',
  } as const
  expect(describePlaceholders(transport)).toEqual([
    'your environment variable TOOLS goes into the command',
    'your secret KEY goes into argument 2',
    'your input for token goes into its environment variable A.B',
    'your environment variable PROJECT (or /home if it is not set) goes into its working folder',
  ])
})

test('a variable that a configuration sends to an address is shown by its name', () => {
  const transport = { type: 'http', url: 'https://a.example/${secret:PATH}', headers: { 'X-Key': '${env:AWS_KEY}' } } as const
  expect(describePlaceholders(transport)).toEqual([
    'your secret PATH goes into the address',
    'your environment variable AWS_KEY goes into the header X-Key',
  ])
})

test('the value of a variable is shown, unless its name is the name of a secret', () => {
  const transport = { type: 'stdio', command: 'x', args: ['-c', '${env:CODE}', '${env:API_TOKEN}', '${env:EMPTY:-eu}'], env: {} } as const
  expect(describePlaceholders(transport, undefined, { CODE: 'echo 1', API_TOKEN: 'hush', EMPTY: '' })).toEqual([
    'your environment variable CODE (= echo 1) goes into argument 2',
    'your environment variable API_TOKEN goes into argument 3',
    'your environment variable EMPTY (or eu if it is not set) goes into argument 4',
  ])
})
