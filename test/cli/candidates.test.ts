/** Names that others chose, as the shell offers them. */

import { Command } from 'commander'
import { expect, test } from 'vitest'
import { candidates } from '../../src/cli/completion/candidates.ts'

const names = {
  bundled: () => [],
  servers: async () => ['ev', '-rf', '--exec'],
  tools: async () => ['add', '-rf', '--exec=sh', '.hidden', '_private', '@file', '%1', '/etc'],
  prompts: async () => [],
  resources: async () => ['file:///a', '-x', '--help'],
  skills: async () => [],
  tasks: async () => [],
}
const program = (): Command => {
  const root = new Command('portico')
  root.command('tools').option('--header <text>', '').argument('[name]').argument('[tool]')
  root.command('read').argument('[name]').argument('[uri]')
  return root
}

test('completion offers no name of a server, tool or resource that would be read as an option', async () => {
  expect(await candidates(program(), ['tools', ''], names)).toEqual(['ev'])
  expect(await candidates(program(), ['tools', 'ev', ''], names)).toEqual(['add', '_private'])
  expect(await candidates(program(), ['read', 'ev', ''], names)).toEqual(['file:///a'])
})

test('completion offers only options of the command where an option is typed', async () => {
  expect(await candidates(program(), ['tools', 'ev', '-'], names)).toEqual(['--header', '--help'])
})
