/** npm run bench: builds if need be, then measures. Words after -- choose measures by name. */

import { run, setUp } from './setup.mjs'

await setUp()
run(process.execPath, ['bench/run.mjs', ...process.argv.slice(2)])
