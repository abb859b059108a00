/** The rules for the path of an endpoint. No request has a path that breaks them. */

export const PATH_RULES = 'begin with a slash, and have no ?, # or \\, no segments . and .., and nothing that URLs encode, such as spaces'

/** What is served beside the endpoint. */
interface Neighbours {
  health?: unknown
  metrics?: unknown
  legacySse?: unknown
}

export const isEndpointPath = (path: string): boolean => path.startsWith('/') && new URL(`http://h${path}`).pathname === path

/** Whether a path serves health or metrics. */
export const isOperation = (path: string, { health, metrics }: Neighbours): boolean =>
  (Boolean(health) && (path === '/healthz' || path === '/readyz')) || (Boolean(metrics) && path === '/metrics')

/** Says why an endpoint cannot have this path. Undefined if it can. */
export function pathFault(path: string, neighbours: Neighbours): string | undefined {
  if (isOperation(path, neighbours)) return `${path} serves health or metrics: choose another path`
  if (!isEndpointPath(path)) return `The path must ${PATH_RULES}, not ${JSON.stringify(path)}`
  if (neighbours.legacySse !== false && path.endsWith('/messages'))
    return `${path} is reserved for clients of the legacy transport: choose another path, or set legacySse: false`
  return undefined
}
