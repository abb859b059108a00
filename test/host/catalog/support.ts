/** Surfaces as servers would list them. */

import type { Offering } from '../../../src/host/model/offering.ts'
import type { Tool } from '../../../src/protocol/model/tools.ts'

export const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ name, inputSchema: { type: 'object' }, ...more })

export interface Offered {
  tools?: readonly (string | Tool)[]
  prompts?: readonly string[]
  resources?: readonly string[]
  templates?: readonly string[]
}

export const surface = ({ tools = [], prompts = [], resources = [], templates = [] }: Offered): Offering => ({
  info: { name: 'server', version: '1' },
  instructions: undefined,
  capabilities: {},
  tools: tools.map((each) => (typeof each === 'string' ? tool(each) : each)),
  prompts: prompts.map((name) => ({ name })),
  resources: resources.map((uri) => ({ uri, name: uri })),
  templates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
})
