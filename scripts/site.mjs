/** npm run site: builds the documentation site and serves it. With --build it only builds. */

import { readOptions, root, run, setUp } from './setup.mjs'

const HELP = `npm run site              build the documentation site and serve it at http://localhost:4173
npm run site -- --build   only build it, into site/dist, and check its links
npm run site -- --watch   serve docs/ without a build; a page follows the changes of its file`

const { build, watch } = readOptions({ build: { type: 'boolean' }, watch: { type: 'boolean' } }, HELP)
await setUp()
if (!watch) run(process.execPath, ['site/build.mjs'])
if (!build) run(process.execPath, [`${root}/node_modules/vitepress/bin/vitepress.js`, watch ? 'dev' : 'preview', 'site'])
