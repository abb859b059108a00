/** Builds the HTML pages that people see. */

/** No scripts, no external content, no frames. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  // With no-referrer, browsers send `Origin: null` with a form, even to the same origin.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

export function page(status: number, title: string, body: string, more: Record<string, string> = {}): Response {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>body{font:16px/1.5 system-ui;max-width:34rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}</style><h1>${escapeHtml(title)}</h1>${body}</html>`
  return new Response(html, { status, headers: { ...HEADERS, ...more } })
}

export const message = (status: number, title: string, text: string, more?: Record<string, string>): Response =>
  page(status, title, `<p>${escapeHtml(text)}</p>`, more)

/** Redirects without a Referer header. */
export const redirectTo = (url: string, more: Record<string, string> = {}): Response =>
  new Response(null, { status: 303, headers: { location: url, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', ...more } })

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
