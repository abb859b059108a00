/** What people have let the server use elsewhere: tokens of others, kept here and bound to whom they belong to. */

import type { Invited } from './person-pages/visits.ts'

export interface Account {
  accessToken: string
  refreshToken?: string
  /** When the access token ends, in milliseconds since 1970, if that is known. */
  expiresAt?: number
}

/** Keeps accounts. They are secrets: what is written to a disk or a database must be encrypted. */
export interface AccountStore {
  get(owner: Invited): Account | undefined | Promise<Account | undefined>
  set(owner: Invited, account: Account): void | Promise<void>
  delete(owner: Invited): void | Promise<void>
}

/** Inside one process, forgotten when it ends. The account longest unchanged makes room for a new one. */
export function memoryAccounts(maxAccounts = 10_000): AccountStore {
  const accounts = new Map<string, Account>()
  return {
    get: (owner) => accounts.get(keyOf(owner)),
    set: (owner, account) => {
      accounts.delete(keyOf(owner))
      const [oldest] = accounts.keys()
      if (accounts.size >= maxAccounts && oldest !== undefined) accounts.delete(oldest)
      accounts.set(keyOf(owner), account)
    },
    delete: (owner) => void accounts.delete(keyOf(owner)),
  }
}

/** By client as well: what a person allowed one application is not allowed to every other. */
const keyOf = ({ issuer, subject, clientId }: Invited): string => JSON.stringify([issuer, subject, clientId])
