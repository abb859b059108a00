/** Tells a model how to get the next page of a list: from the `Link` header that many APIs send. */

import type { Parameter, ReadOperation } from './document.ts'

/**
 * A sentence with the arguments of the next call; undefined if there is no next page, or it cannot be asked for.
 *
 * @param keys the members of the query that are credentials. The model must not see them
 */
export function nextPage(
  response: Response,
  url: URL,
  operation: ReadOperation,
  names: ReadonlyMap<Parameter, string>,
  keys: readonly string[],
): string | undefined {
  const target = linkTo('next', response.headers.get('link') ?? '')
  if (target === undefined || !URL.canParse(target, url.href)) return undefined
  const next = new URL(target, url)
  if (next.origin !== url.origin || next.pathname !== url.pathname) return undefined
  const changed: Record<string, string | number> = {}
  for (const [key, value] of next.searchParams) {
    if (keys.includes(key) || url.searchParams.getAll(key).includes(value)) continue
    const parameter = operation.parameters.find((each) => each.in === 'query' && each.name === key)
    if (!parameter) return undefined
    changed[names.get(parameter) as string] = /^\d{1,15}$/.test(value) ? Number(value) : value
  }
  if (Object.keys(changed).length === 0) return undefined
  return `There are more results. For the next page call again with the same arguments and ${JSON.stringify(changed)}.`
}

function linkTo(relation: string, header: string): string | undefined {
  for (const [, target, attributes] of header.matchAll(/<([^<>]*)>((?:\s*;\s*[\w-]+\s*=\s*(?:"[^"]*"|[^\s;,"]+))*)/g)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(attributes ?? '')
    if ((rel?.[1] ?? rel?.[2] ?? '').toLowerCase().split(/\s+/).includes(relation)) return target
  }
  return undefined
}
