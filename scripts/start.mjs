/** npm start: install, build, and run the demo. */

import { run, setUp } from './setup.mjs'

await setUp()
run(process.execPath, ['examples/demo/demo.mjs'])
