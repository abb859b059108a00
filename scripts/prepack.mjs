/** Runs before `npm pack`: installs and builds what is missing, so that a package made in a fresh clone is complete. */

import { setUp } from './setup.mjs'

await setUp()
