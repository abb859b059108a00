/** npm run build: installs what is missing, links packages, and builds the package, also if nothing has changed. Tests see that it is fresh. */

import { buildIfStale, installDependencies, linkPackages } from './setup.mjs'

installDependencies()
linkPackages()
await buildIfStale({ always: true })
