/** How a person gets to the login page and back to the program. */

export interface LoginOptions {
  /** Opens the login page. Default: the browser of the system. */
  openBrowser?(url: string): void | Promise<void>
  /** Where the login page sends the person back to. Default: a random port of this machine. */
  redirect?: Redirect | string
}

/** Replaces the browser and the port of this machine, for programs that show pages themselves or have a public address. */
export interface Redirect {
  /** The address that the login page sends the person back to: https, or on this machine. */
  uri: string
  /** Sends the person to `url`. Resolves with the whole address that they were sent back to, including the query. */
  visit(url: string, options: RedirectOptions): Promise<string | URL>
}

/** Options for `Redirect.visit`. */
export interface RedirectOptions {
  /** Aborted when the login is cancelled or has timed out. */
  signal: AbortSignal
  /** Whether an address is the response to this login. Ignore requests for which it is false: anyone can send them. */
  isOurs(url: string | URL): boolean
}

/** A redirect that must be closed when the login is over. */
export interface OpenRedirect extends Redirect {
  close(): Promise<void>
}
