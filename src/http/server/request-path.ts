/** The paths of requests. */

/** The path of a request target, without query and fragment. No target may have a fragment, but routers and proxies cut it off. */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/)
  const path = end < 0 ? url : url.slice(0, end)
  return path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, '') || '/'
}

/** Paths are kept, because URLs repeat. */
export class RequestPaths {
  #url = ''
  #path = ''
  #lastSegment = ''

  pathOf(url: string): string {
    if (url !== this.#url) {
      this.#url = url
      this.#path = pathOf(url)
      this.#lastSegment = this.#path.slice(this.#path.lastIndexOf('/') + 1)
    }
    return this.#path
  }

  /** `sse` and `messages` are the endpoints of the legacy transport. */
  lastSegmentOf(url: string): string {
    this.pathOf(url)
    return this.#lastSegment
  }
}
