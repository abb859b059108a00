/** Builds the page into dist/console/page. `npm run console:dev` serves it from its sources and passes API requests to a running console. */

import { fileURLToPath } from 'node:url'
import { defineConfig, type UserConfig } from 'vite'

const here = fileURLToPath(new URL('.', import.meta.url))

/** The console that answers the API in development: `PORTICO_CONSOLE=http://127.0.0.1:4711 npm run console:dev`. */
const target = process.env.PORTICO_CONSOLE ?? 'http://127.0.0.1:4711'

export default defineConfig(({ command }) => {
  // A test that builds the page has NODE_ENV=test, which would build React for development: larger and slower.
  if (command === 'build') process.env.NODE_ENV = 'production'
  return config
})

const config: UserConfig = {
  root: here,
  logLevel: 'warn',
  // Vite transforms JSX. Its React plugin would only add reloading without loss of state.
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: '../dist/console/page',
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    // The content security policy refuses scripts and styles in data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Times of plugins on a busy machine say nothing.
      checks: { bundlerTimings: false },
      // Marks of React for servers, which mean nothing here.
      onLog: (level, log, handle) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : handle(level, log)),
    },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: {
      '/api': {
        target,
        changeOrigin: true,
        // The console answers its own page only. In development this server is the page.
        configure: (proxy) =>
          proxy.on('proxyReq', (request) => {
            request.removeHeader('origin')
            request.removeHeader('sec-fetch-site')
          }),
      },
    },
  },
}
