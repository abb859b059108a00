/** Serves the files of the page. Only files that were in the folder at the start are served, so no path can leave it. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { McpError } from '../../host/index.ts'

export interface StaticFile {
  type: string
  bytes: Buffer
  /** Compressed. Undefined where that saves little. */
  gzip: Buffer | undefined
}

export interface StaticFiles {
  /**
   * The file for a path such as `/assets/app.js`. Addresses inside the page get the page. Undefined: there is no such file.
   *
   * @param isFromElsewhere a page of another site opens this one, and the page is told so
   */
  find(path: string, isFromElsewhere: boolean): Promise<StaticFile | undefined>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
}

const COMPRESSIBLE = /^(?:text\/|application\/(?:json|manifest)|image\/svg)/
const MIN_GZIP_BYTES = 1_024
const compress = promisify<Buffer, Buffer>(gzip)

const MAX_FILES = 2_000
const MAX_FILE_BYTES = 16 * 1024 * 1024

/** In the page that another site opened. A script cannot see the headers of its own request. */
const FROM_ELSEWHERE = '<meta name="portico-opened-by" content="elsewhere">'

/** Shown while the page is not built. */
const PLACEHOLDER = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Portico</title>
<h1>The console's page is not built</h1>
<p>In a clone of the repository: run <code>npm run build</code>, start Portico again and open its new link.</p>
<p>The API of the console works without the page: see docs/console-api.md.</p>
</html>
`

/** @param folder undefined: a page that says that the page is not built */
export async function staticFiles(folder: string | undefined): Promise<StaticFiles> {
  const files = folder === undefined ? new Map<string, string>() : await filesIn(folder)
  const cache = new Map<string, Promise<StaticFile>>()
  const index: StaticFile = { type: TYPES['.html'] as string, bytes: Buffer.from(PLACEHOLDER), gzip: undefined }
  if (folder !== undefined && !files.has('/index.html')) throw new McpError('ERR_CONFIG', `${folder}: expected a file index.html`)

  const read = async (path: string, isMarked: boolean): Promise<StaticFile> => {
    const file = files.get(path)
    if (file === undefined) return index
    const { size } = await stat(file)
    if (size > MAX_FILE_BYTES) throw new McpError('ERR_LIMIT', `${file}: expected at most ${MAX_FILE_BYTES} bytes, got ${size}`)
    const type = TYPES[extname(file)] ?? 'application/octet-stream'
    const read = await readFile(file)
    const bytes = isMarked ? Buffer.from(read.toString('utf8').replace(/<head[^>]*>/, (head) => head + FROM_ELSEWHERE)) : read
    // Once: the files do not change while the console runs.
    return { type, bytes, gzip: COMPRESSIBLE.test(type) && bytes.length > MIN_GZIP_BYTES ? await compress(bytes) : undefined }
  }
  const cached = (path: string, isFromElsewhere: boolean): Promise<StaticFile> => {
    const isMarked = isFromElsewhere && extname(path) === '.html'
    const key = isMarked ? `marked ${path}` : path
    const known = cache.get(key) ?? read(path, isMarked)
    cache.set(key, known)
    // A file that could not be read is tried again.
    known.catch(() => cache.delete(key))
    return known
  }
  return {
    find: async (path, isFromElsewhere) => {
      if (files.has(path)) return cached(path, isFromElsewhere)
      return extname(path) === '' || path === '/index.html' ? cached('/index.html', isFromElsewhere) : undefined
    },
  }
}

async function filesIn(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  if (files.length > MAX_FILES) throw new McpError('ERR_LIMIT', `${folder}: expected at most ${MAX_FILES} files, got ${files.length}`)
  return new Map(files.map((file) => [`/${relative(folder, file).split(sep).join('/')}`, file]))
}
