/** A view written with the official package, as authors of servers write it. */

import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** The script of the official package in one file, which puts `App` into the window. */
async function officialScript(): Promise<string> {
  const entry = `import { App } from '@modelcontextprotocol/ext-apps/app-with-deps'; globalThis.App = App`
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    write: false,
    format: 'iife',
    minify: true,
  })
  return outputFiles[0]?.text ?? ''
}

/** @param script runs with `app`, before it connects */
export async function officialView(script: string): Promise<string> {
  const library = (await officialScript()).replaceAll('</script', '<\\/script')
  return `<!doctype html><html><head><meta charset="utf-8"><title>Board</title></head><body>
<h1>Board</h1><p id="input"></p><p id="result"></p><p id="said"></p>
<button id="refresh">Refresh</button><button id="link">Link</button><button id="message">Message</button>
<script>${library}</script>
<script type="module">
const app = new App({ name: 'board', version: '1.0.0' }, {})
const show = (id, text) => { document.getElementById(id).textContent = text }
${script}
await app.connect()
show('said', 'connected to ' + app.getHostVersion().name)
</script></body></html>`
}
