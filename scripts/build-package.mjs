/** npm run build: builds the package, also if nothing has changed. Tests see that it is fresh, and do not build it again. */

import { buildIfStale, installDependencies, linkPackages } from './setup.mjs'

installDependencies()
linkPackages()
await buildIfStale({ always: true })
