/** Tables of what a server offers: tools, resources, prompts. */

import type { Prompt, Resource, ResourceTemplate, Tool } from '../../client/index.ts'
import { usageOf } from '../arguments/usage.ts'
import { printValue } from '../output/content.ts'
import { safe, untrustedLines } from '../output/safe-text.ts'
import type { Screen } from '../output/screen.ts'
import { printTable } from '../output/table.ts'

export interface ResourceListing {
  resources: readonly Resource[]
  resourceTemplates: readonly ResourceTemplate[]
}

export function printTools(screen: Screen, tools: readonly Tool[]): void {
  if (screen.isJson) return screen.printJson(tools)
  if (tools.length === 0) return screen.note(safe`This server has no tools.`)
  const rows = tools.map((tool) => [tool.name, hintsOf(tool), firstLine(tool.description ?? tool.title)])
  printTable(screen, [{ title: 'TOOL', style: 'bold' }, { title: 'HINTS' }, { title: 'DESCRIPTION' }], rows)
}

export function printTool(screen: Screen, tool: Tool): void {
  const { style } = screen
  screen.print(safe`${style.bold(tool.name)}${tool.title === undefined ? '' : safe` ${style.dim(tool.title)}`}`)
  if (tool.description !== undefined) screen.print(untrustedLines(tool.description))
  screen.print(safe`\n${style.dim('usage')} ${usageOf(tool)}`)
  const hints = hintsOf(tool)
  if (hints !== '') screen.print(safe`${style.dim('hints (declared by the server)')} ${hints}`)
  screen.print(safe`\n${style.dim('input')}`)
  printValue(screen, tool.inputSchema)
  if (tool.outputSchema === undefined) return
  screen.print(safe`\n${style.dim('output')}`)
  printValue(screen, tool.outputSchema)
}

const hintsOf = ({ annotations = {} }: Tool): string =>
  [
    annotations.readOnlyHint === true ? 'read-only' : '',
    annotations.destructiveHint === true && annotations.readOnlyHint !== true ? 'destructive' : '',
    annotations.openWorldHint === true ? 'open-world' : '',
  ]
    .filter((hint) => hint !== '')
    .join(', ')

export function printResources(screen: Screen, listing: ResourceListing): void {
  if (screen.isJson) return screen.printJson(listing)
  const { resources, resourceTemplates } = listing
  if (resources.length + resourceTemplates.length === 0) return screen.note(safe`This server has no resources.`)
  const rows = [
    ...resources.map(({ uri, name, mimeType, title, description }) => [uri, mimeType ?? '', firstLine(title ?? description ?? name)]),
    ...resourceTemplates.map(({ uriTemplate, name, mimeType, title, description }) => [
      uriTemplate,
      mimeType ?? '',
      firstLine(title ?? description ?? name),
    ]),
  ]
  printTable(screen, [{ title: 'URI', style: 'bold' }, { title: 'TYPE' }, { title: 'DESCRIPTION' }], rows)
}

export function printPrompts(screen: Screen, prompts: readonly Prompt[]): void {
  if (screen.isJson) return screen.printJson(prompts)
  if (prompts.length === 0) return screen.note(safe`This server has no prompts.`)
  const rows = prompts.map(({ name, title, description, arguments: args = [] }) => [
    name,
    args.map((each) => (each.required ? each.name : `[${each.name}]`)).join(' '),
    firstLine(description ?? title),
  ])
  printTable(screen, [{ title: 'PROMPT', style: 'bold' }, { title: 'ARGUMENTS' }, { title: 'DESCRIPTION' }], rows)
}

/** The first line, with a sign if there are more. */
export function firstLine(text: unknown): string {
  if (typeof text !== 'string') return ''
  const [first = '', ...rest] = text.trim().split('\n')
  return rest.length > 0 ? `${first.trimEnd()} …` : first
}
