/** What a server process is told of ours. */

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

/** The environment of a child: what it needs to run, and what was declared. Nothing else of ours is its business. */
export function childEnvironment(declared: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const name of INHERITED) {
    const value = process.env[name]
    // A value that begins like this is a shell function, not a value.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value
  }
  return { ...environment, ...declared }
}
