/** Counts the type instantiations for 50 tools, compared with a program that has the same imports and no tools. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const GOAL = 15_000
const TOOLS = 50
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}.cache/types-${process.pid}`
const OPTIONS = '--ignoreConfig --singleThreaded --noEmit --strict --extendedDiagnostics --module nodenext --target es2023 --types node'

const SHAPES = {
  'one argument': (i) => `{ text_${i}: z.string() }`,
  'four arguments': (i) =>
    `{ text_${i}: z.string(), days: z.number().int().optional(), unit: z.enum(['c', 'f']), tags: z.array(z.string()) }`,
}

const CONTESTANTS = {
  'zod alone': {
    imports: '',
    tool: (i, shape) => `const schema_${i} = z.object(${shape})
export const handler_${i} = async (args: z.infer<typeof schema_${i}>) => args.text_${i}\n`,
  },
  portico: {
    imports: `import { createServer } from 'portico/server'\nconst server = createServer({ name: 'types', version: '1' })\n`,
    tool: (i, shape) => `server.tool('tool_${i}', { input: z.object(${shape}) }, async (args) => args.text_${i})\n`,
  },
  v1: {
    imports: `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'\nconst server = new McpServer({ name: 'types', version: '1' })\n`,
    tool: (i, shape) =>
      `server.registerTool('tool_${i}', { inputSchema: ${shape} }, async (args) => ({ content: [{ type: 'text', text: args.text_${i} }] }))\n`,
  },
  v2: {
    imports: `import { McpServer } from '@modelcontextprotocol/server'\nconst server = new McpServer({ name: 'types', version: '1' })\n`,
    tool: (i, shape) =>
      `server.registerTool('tool_${i}', { inputSchema: z.object(${shape}) }, async (args) => ({ content: [{ type: 'text', text: args.text_${i} }] }))\n`,
  },
}

function instantiations(imports, tools) {
  const file = `${folder}/program.ts`
  writeFileSync(file, `import { z } from 'zod'\n${imports}export const schema = z.object({ text: z.string() })\n${tools}`)
  const { stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', ...OPTIONS.split(' '), '--skipLibCheck', file], {
    cwd: root,
    encoding: 'utf8',
  })
  if (stdout.includes('error TS')) throw new Error(stdout)
  return Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1])
}

mkdirSync(folder, { recursive: true })
try {
  for (const [name, shapeOf] of Object.entries(SHAPES)) {
    console.log(`\nType instantiations for ${TOOLS} tools of ${name}`)
    for (const [contestant, { imports, tool }] of Object.entries(CONTESTANTS)) {
      const code = Array.from({ length: TOOLS }, (_, i) => tool(i, shapeOf(i))).join('')
      const number = instantiations(imports, code) - instantiations(imports, '')
      const verdict = contestant === 'portico' ? `goal ${GOAL}: ${number <= GOAL ? 'reached' : 'missed'}` : ''
      console.log(`  ${contestant.padEnd(13)} ${String(number).padStart(9)}  ${verdict}`)
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
