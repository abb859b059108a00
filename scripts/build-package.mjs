/** npm run build: builds the package, also if nothing has changed. Tests see that it is fresh, and do not build it again. */

import { buildIfStale } from './setup.mjs'

await buildIfStale({ always: true })
