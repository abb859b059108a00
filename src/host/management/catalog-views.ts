/** The part of a host that shows what its servers offer. */

import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../catalog/entry.ts'
import type { FoundTool } from '../catalog/search.ts'
import type { FoundEntry } from '../catalog/search-all.ts'
import type { HostServices } from '../setup/host-services.ts'
import { ManagedServers } from './managed-servers.ts'

export class CatalogViews extends ManagedServers {
  readonly #services: HostServices

  constructor(services: HostServices) {
    super(services)
    this.#services = services
  }

  /**
   * The approved tools of all servers.
   * @example
   * const names = host.tools().map(({ exposed }) => exposed)
   */
  tools(): readonly ToolEntry[] {
    return this.#services.catalog.tools()
  }

  /**
   * The approved prompts of all servers.
   * @example
   * for (const { exposed, definition } of host.prompts()) console.log(exposed, definition.description)
   */
  prompts(): readonly PromptEntry[] {
    return this.#services.catalog.prompts()
  }

  /**
   * The resources of all servers.
   * @example
   * for (const { exposed, server } of host.resources()) console.log(server, exposed)
   */
  resources(): readonly ResourceEntry[] {
    return this.#services.catalog.resources()
  }

  /**
   * The resource templates of all servers.
   * @example
   * for (const { definition } of host.templates()) console.log(definition.uriTemplate)
   */
  templates(): readonly TemplateEntry[] {
    return this.#services.catalog.templates()
  }

  /**
   * Searches the tools of all servers by words.
   * @example
   * const [best] = host.search('send mail', { limit: 5 })
   * console.log(best?.entry.exposed)
   */
  search(query: string, options: { limit?: number } = {}): FoundTool[] {
    return this.#services.search.search(query, options)
  }

  /**
   * Searches the tools, prompts, resources and templates of all servers by words.
   * @example
   * for (const { entry } of host.find('open issues')) console.log(entry.kind, entry.exposed)
   */
  find(query: string, options: { limit?: number } = {}): FoundEntry[] {
    return this.#services.entrySearch.search(query, options)
  }
}
