/**
 * A build step: imports of an index file in src/cli become imports of the files behind it. The bundler assigns whole index files to
 * chunks, so a command that needs one function of the host would otherwise load all of it.
 */

import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export const directImports = () => ({
  name: 'direct-imports',
  transform(code, id) {
    if (!/[\\/]src[\\/]cli[\\/]/.test(id)) return null
    const changed = code.replace(/^import (type )?\{([^}]*)\} from '(\.[^']*\/index\.ts)'/gm, (_, type, names, specifier) => {
      if (type) return ''
      const home = homesIn(resolve(dirname(id), specifier))
      return names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && !name.startsWith('type '))
        .map((name) => {
          const file = home.get(name)
          return file === undefined ? `import { ${name} } from '${specifier}'` : `import { ${name} } from '${file}'`
        })
        .join('; ')
    })
    return changed === code ? null : { code: changed, map: null }
  },
})

const known = new Map()

/** Where each exported name of an index file is defined. */
function homesIn(index) {
  if (known.has(index)) return known.get(index)
  const homes = new Map()
  known.set(index, homes)
  const text = readFileSync(index, 'utf8')
  for (const [, from] of text.matchAll(/^export \* from '([^']+)'/gm)) {
    for (const [name, file] of homesIn(resolve(dirname(index), from))) homes.set(name, file)
  }
  for (const [, names, from] of text.matchAll(/^export \{([^}]*)\} from '([^']+)'/gm)) {
    for (const name of names.split(',').map((each) => each.trim())) {
      // A renamed export keeps its index file.
      if (/^\w+$/.test(name)) homes.set(name, resolve(dirname(index), from))
    }
  }
  return homes
}
