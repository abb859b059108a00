#!/usr/bin/env node
/** `npm create portico`: copies a template into a new folder. It needs no network and installs nothing. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const TEMPLATES = {
  server: 'a server with a tool, a resource and a prompt',
  client: 'a program that connects to servers',
  agent: 'a model that uses servers, and asks you before it acts',
}

const USAGE = `Usage: npm create portico [folder] -- [--template server|client|agent]

Makes a project in the folder. Default: mcp-server, mcp-client or mcp-agent, after the template.
${Object.entries(TEMPLATES)
  .map(([name, what]) => `  ${name.padEnd(8)}${what}`)
  .join('\n')}`

const here = fileURLToPath(new URL('.', import.meta.url))

/** Prints one line and ends with the exit code for a wrong command line. */
function refuse(text) {
  console.error(text)
  process.exit(2)
}

const { values, positionals } = readArguments()
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
if (positionals.length > 1) refuse(`Expected one folder, got ${positionals.join(', ')}`)
if (values.template !== undefined) checkTemplate(values.template)
if (positionals[0] !== undefined) checkFolder(positionals[0])
const template = values.template ?? (await askForTemplate())
const folder = positionals[0] ?? `mcp-${template}`
checkFolder(folder)
try {
  create(template, resolve(folder))
} catch (error) {
  // For example no permission, a full disk, or a file where a folder must be.
  console.error(`The project cannot be made in ${folder}: ${error.message}`)
  process.exit(1)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { template: { type: 'string', short: 't' }, help: { type: 'boolean', short: 'h' } },
    })
  } catch (error) {
    return refuse(`${error.message.split('. ')[0]}\n\n${USAGE}`)
  }
}

function checkTemplate(name) {
  if (!Object.hasOwn(TEMPLATES, name)) refuse(`Unknown template ${JSON.stringify(name)}; expected ${Object.keys(TEMPLATES).join(', ')}`)
}

/** The only question. */
async function askForTemplate() {
  const names = Object.keys(TEMPLATES)
  if (!process.stdin.isTTY) refuse(`Missing --template; expected ${names.join(', ')}`)
  for (const [i, name] of names.entries()) console.log(`  ${i + 1}  ${name.padEnd(8)}${TEMPLATES[name]}`)
  const lines = createInterface({ input: process.stdin, output: process.stdout })
  // Ctrl-C and Ctrl-D close the input before there is an answer.
  lines.once('close', () => process.exit(130))
  for (;;) {
    const typed = (await lines.question('Which template? (1) ')).trim().toLowerCase() || '1'
    const chosen = names[Number(typed) - 1] ?? names.find((name) => name === typed)
    if (chosen === undefined) {
      console.log(`Expected a number from 1 to ${names.length}, or a name`)
      continue
    }
    lines.removeAllListeners('close')
    lines.close()
    return chosen
  }
}

/** A folder with only `.git` counts as empty. */
function checkFolder(path) {
  const full = resolve(path)
  if (!existsSync(full)) return
  if (!statSync(full).isDirectory()) refuse(`${path} is a file`)
  const [first] = namesIn(path, full).filter((name) => name !== '.git')
  if (first !== undefined) refuse(`${path} is not empty: it contains ${first}. Choose another folder.`)
}

function namesIn(path, full) {
  try {
    return readdirSync(full)
  } catch (error) {
    return refuse(`${path} cannot be read: ${error.message}`)
  }
}

function create(name, folder) {
  const { version } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  const clone = cloneOf()
  const tarball = clone && join(clone, `portico-${version}.tgz`)
  mkdirSync(folder, { recursive: true })
  cpSync(join(here, 'templates', 'shared'), folder, { recursive: true })
  cpSync(join(here, 'templates', name), folder, { recursive: true })
  // npm leaves files with this name out of packages.
  renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'))
  const title = packageName(basename(folder))
  for (const file of ['package.json', 'README.md', 'src/server.ts', 'src/agent.ts', 'src/client.ts'])
    fill(join(folder, file), title, version, tarball)
  if (clone) tellHowToPack(join(folder, 'README.md'), clone)
  const path = relative(process.cwd(), folder) || '.'
  const steps = [
    ...(tarball && !existsSync(tarball) ? [packing(clone)] : []),
    ...(path === '.' ? [] : [`cd ${quoted(path)}`]),
    'npm install',
    'npm test',
    'npm run dev',
  ]
  console.log(`Made ${title} in ${path}. Next:\n\n${steps.map((step) => `  ${step}`).join('\n')}\n`)
}

/** npm does not know the version in a clone, so the project installs a package that is made there. */
function packing(clone) {
  return `(cd ${quoted(clone)} && npm install && npm run build && npm pack)`
}

/** The steps of the README work also where the package was not made yet, or was removed. */
function tellHowToPack(file, clone) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    text.replace(/^npm install$/m, () => `${packing(clone)}   # once: makes the package portico\nnpm install`),
  )
}

/** The repository of Portico that this file is a part of. Undefined in the published package. */
function cloneOf() {
  const root = join(here, '..')
  const manifest = join(root, 'package.json')
  if (!existsSync(manifest) || !existsSync(join(root, 'src', 'host'))) return undefined
  return JSON.parse(readFileSync(manifest, 'utf8')).name === 'portico' ? root : undefined
}

function quoted(path) {
  return /[^\w./-]/.test(path) ? JSON.stringify(path) : path
}

/** A name that npm accepts. */
function packageName(text) {
  const name = text.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')
  return name.replaceAll(/^[._-]+|-+$/g, '').slice(0, 200) || 'mcp-project'
}

function fill(file, title, version, tarball) {
  if (!existsSync(file)) return
  const text = readFileSync(file, 'utf8').replaceAll('NAME_OF_THE_PROJECT', title)
  const installed = tarball === undefined ? text : text.replaceAll('^VERSION_OF_PORTICO', JSON.stringify(`file:${tarball}`).slice(1, -1))
  writeFileSync(file, installed.replaceAll('VERSION_OF_PORTICO', version))
}
