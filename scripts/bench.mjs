/** npm run bench: builds if necessary, then measures. Words after it choose measures by name. */

import { run, setUp } from './setup.mjs'

await setUp()
run(process.execPath, ['bench/run.mjs', ...process.argv.slice(2)])
