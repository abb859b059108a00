/**
 * The switch of the faults: code in the copy asks at run time whether its fault is on. The answer is in a file and not in the environment,
 * because tests start processes with their own environment.
 */

import { readFileSync } from 'node:fs'

/** The module that every source with a fault imports. `folder` holds the answers and the record of visits. */
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

/** A set-up file for vitest. It writes down which test file runs, for the record of visits. */
export function setupSource(folder) {
  return `import { writeFileSync } from 'node:fs'
import { expect } from 'vitest'
writeFileSync(${JSON.stringify(`${folder}/test-file`)}, expect.getState().testPath ?? '')
`
}

/** The test files that reach each fault, by the fault's id. */
export function readVisits(folder) {
  const visits = new Map()
  for (const line of readFileSync(`${folder}/visits`, 'utf8').split('\n')) {
    const [id, file] = line.split('\t')
    if (!id || !file) continue
    visits.set(id, new Set(visits.get(id) ?? []).add(file))
  }
  return visits
}
