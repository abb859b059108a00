/** Measures installation and loading of the packed package: packages, megabytes and milliseconds. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { linkOf } from './console.mjs'
import { median } from './cpu.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const OPTIONS = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

/** `omit` leaves out the dependencies that only the host and the command need. */
const USES = [
  { use: 'a server over stdio', install: ['portico'], omit: true, load: ['portico/server', 'portico/stdio'] },
  { use: 'a server over HTTP', install: ['portico'], omit: true, load: ['portico/server', 'portico/http'] },
  {
    use: 'everything',
    install: ['portico'],
    load: ['portico', ...['server', 'client', 'stdio', 'http', 'auth', 'host', 'console', 'testing'].map((name) => `portico/${name}`)],
  },
  {
    use: 'official SDK v2, a server over stdio',
    install: ['@modelcontextprotocol/server'],
    load: ['@modelcontextprotocol/server', '@modelcontextprotocol/server/stdio'],
  },
  {
    use: 'official SDK v1, a server over stdio',
    install: ['@modelcontextprotocol/sdk'],
    load: ['@modelcontextprotocol/sdk/server/mcp.js', '@modelcontextprotocol/sdk/server/stdio.js'],
  },
]

/** Installs the packed package into empty folders, runs `npm start` on a fresh clone, and prints two tables. */
export async function printInstallation() {
  const folder = mkdtempSync(`${tmpdir()}/portico-install-`)
  try {
    const { filename, size, unpackedSize } = JSON.parse(must('npm', ['pack', '--json', '--pack-destination', folder], root))[0]
    const tarball = `${folder}/${filename}`
    console.log(
      `\nThe package: ${(size / 1e6).toFixed(1)} MB packed, ${(unpackedSize / 1e6).toFixed(1)} MB installed, with the page of the console`,
    )
    console.log('\nInstallation and import of the packed package (warm npm cache)')
    console.log('                                        packages      MB   import')
    for (const { use, install, omit, load } of USES) {
      const home = mkdtempSync(`${folder}/use-`)
      writeFileSync(`${home}/package.json`, '{"private":true,"type":"module"}')
      const names = install.map((name) => (name === 'portico' ? tarball : name))
      must('npm', ['install', ...OPTIONS, ...(omit ? ['--omit=optional'] : []), ...names], home)
      const ms = median(Array.from({ length: 5 }, () => importing(load, home)))
      console.log(
        `${use.padEnd(40)}${String(packagesIn(home)).padStart(8)}${megabytes(home).padStart(8)}${`${ms.toFixed(0)} ms`.padStart(9)}`,
      )
    }
    await printFirstStart(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function printFirstStart(folder) {
  const clone = `${folder}/clone`
  must('git', ['clone', '--quiet', root, clone], folder)
  const begun = performance.now()
  const env = { ...process.env, PORTICO_HOME: `${folder}/host`, CI: 'true' }
  const child = spawn('npm', ['start'], { cwd: clone, stdio: ['ignore', 'pipe', 'ignore'], env })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await linkOf(child)
  const seconds = (performance.now() - begun) / 1000
  child.kill('SIGTERM')
  await ended
  console.log('\nnpm start on a fresh clone (warm npm cache; goals: 80 MB, 15 s)')
  console.log(`  ${packagesIn(clone)} packages, ${megabytes(clone)} MB, ${seconds.toFixed(1)} s to the link of the console`)
}

function must(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
  return stdout
}

const packagesIn = (folder) =>
  Object.values(JSON.parse(readFileSync(`${folder}/node_modules/.package-lock.json`, 'utf8')).packages).filter(({ link }) => !link).length

function megabytes(folder) {
  const sizes = readdirSync(`${folder}/node_modules`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(`${entry.parentPath}/${entry.name}`).size)
  return (sizes.reduce((sum, size) => sum + size, 0) / 1e6).toFixed(1)
}

function importing(specifiers, cwd) {
  const code = `const start = performance.now(); await Promise.all(${JSON.stringify(specifiers)}.map((name) => import(name))); console.log(performance.now() - start)`
  return Number(must(process.execPath, ['--input-type=module', '-e', code], cwd))
}
