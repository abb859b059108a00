/**
 * What the copy of the sources with faults in it asks at run time: is this fault switched on? The answer is in a file and not in the
 * environment, because tests start processes with an environment of their own.
 */

import { readFileSync } from 'node:fs'

/** The module that every source with a fault imports. `folder` is where the answers and the record of visits are. */
export function switchSource(folder) {
  return `const fs = globalThis.process?.getBuiltinModule?.('node:fs')
const folder = ${JSON.stringify(folder)}
const read = (name) => { try { return fs.readFileSync(folder + '/' + name, 'utf8') } catch { return '' } }
const active = read('active')
const visited = new Set()
export function fault(id) {
  if (active === 'record' && !visited.has(id)) {
    visited.add(id)
    fs.appendFileSync(folder + '/visits', id + '\\t' + read('test-file') + '\\n')
  }
  return active === id
}
`
}

/** A set-up file for vitest: says which test file runs, for the record of visits. */
export function setupSource(folder) {
  return `import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
writeFileSync(${JSON.stringify(`${folder}/test-file`)}, expect.getState().testPath ?? '')
`
}

/** Which test files reach a fault, by its id. */
export function readVisits(folder) {
  const visits = new Map()
  for (const line of readFileSync(`${folder}/visits`, 'utf8').split('\n')) {
    const [id, file] = line.split('\t')
    if (!id || !file) continue
    visits.set(id, new Set(visits.get(id) ?? []).add(file))
  }
  return visits
}
