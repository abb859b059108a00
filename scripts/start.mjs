/**
 * npm start: installs, builds, and starts the command: the host with its console. package.json starts this file with `exec`: npm passes
 * SIGTERM to its shell, and the shell would end without passing it on.
 */

import { spawn } from 'node:child_process'
import { root, setUp } from './setup.mjs'

await setUp({ isForTests: false })
// Not through `run`: only the command handles the terminal and Ctrl-C, which reaches the whole process group.
process.on('SIGINT', () => {})
const command = spawn(process.execPath, [`${root}/dist/cli/index.js`, ...process.argv.slice(2)], {
  stdio: 'inherit',
  // npm changes to the folder of the package. Paths in arguments are meant from where the user is.
  cwd: process.env.INIT_CWD ?? process.cwd(),
})
process.on('SIGTERM', () => command.kill('SIGTERM'))
command.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 1)))
