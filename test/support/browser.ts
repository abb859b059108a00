/** A browser of one person: follows redirects, keeps cookies for each host, and fills in what it is told to. */

export class Browser {
  readonly #fetch: (request: Request) => Promise<Response>
  readonly #cookies = new Map<string, Map<string, string>>()
  /** Everything it was sent to, oldest first. */
  readonly history: string[] = []

  /** @param fetch what answers, for whichever host */
  constructor(fetch: (request: Request) => Promise<Response>) {
    this.#fetch = fetch
  }

  /** A cookie that is there already, such as that of a login. */
  setCookie(origin: string, name: string, value: string): void {
    this.#jar(origin).set(name, value)
  }

  cookies(origin: string): ReadonlyMap<string, string> {
    return this.#jar(origin)
  }

  /** One request, without following where it leads. */
  async step(url: string, init: RequestInit = {}): Promise<Response> {
    this.history.push(url)
    const { origin } = new URL(url)
    const headers = new Headers(init.headers)
    const jar = this.#jar(origin)
    if (jar.size > 0) headers.set('cookie', [...jar].map(([name, value]) => `${name}=${value}`).join('; '))
    const response = await this.#fetch(new Request(url, { ...init, headers, redirect: 'manual' }))
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = cookie.split(';').map((each) => each.trim())
      const [name = '', ...value] = pair.split('=')
      // What browsers demand of this prefix.
      if (name.startsWith('__Host-') && !(attributes.includes('Secure') && attributes.includes('Path=/') && !/domain=/i.test(cookie)))
        continue
      if (attributes.includes('Max-Age=0')) jar.delete(name)
      else jar.set(name, value.join('='))
    }
    return response
  }

  /** A request and everything it leads to. */
  async visit(url: string, init: RequestInit = {}): Promise<Response> {
    let response = await this.step(url, init)
    let at = url
    for (let hops = 0; hops < 10; hops++) {
      const location = response.headers.get('location')
      if (location === null) return response
      at = new URL(location, at).href
      response = await this.step(at)
    }
    throw new Error('Redirects without end')
  }

  /** Opens a page with a form and presses one of its buttons. */
  async answer(url: string, answer: 'yes' | 'no'): Promise<Response> {
    const shown = await this.visit(url)
    const html = await shown.text()
    const token = /name="token" value="([^"]+)"/.exec(html)?.[1]
    if (token === undefined) return new Response(html, { status: shown.status, headers: shown.headers })
    return this.visit(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(url).origin },
      body: new URLSearchParams({ token, answer }).toString(),
    })
  }

  #jar(origin: string): Map<string, string> {
    let jar = this.#cookies.get(origin)
    if (!jar) {
      jar = new Map()
      this.#cookies.set(origin, jar)
    }
    return jar
  }
}
