/** The environment of a server process. */

const INHERITED =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'COMSPEC',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER']

/**
 * The environment of a child process: the variables that programs need to run, and the declared ones. Nothing else is
 * inherited, because other variables may hold secrets.
 *
 * @example
 * ```ts
 * spawn('node', ['server.js'], { env: childEnvironment({ API_KEY: key }) })
 * ```
 */
export function childEnvironment(declared: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = {}
  // Names have no case on Windows: of `PATH` and a declared `Path` only the declared one may be left.
  const replaced = new Set(process.platform === 'win32' ? Object.keys(declared).map((name) => name.toUpperCase()) : [])
  for (const name of INHERITED) {
    if (replaced.has(name)) continue
    const value = process.env[name]
    // A value that begins with () is an exported shell function.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value
  }
  return { ...environment, ...declared }
}
