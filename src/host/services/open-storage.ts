/** Everything a host keeps on the disk, in one folder that all hosts of a user share. */

import { join, resolve } from 'node:path'
import { privateFolder } from '../../files/private-file.ts'
import { userFolder } from '../../files/user-folder.ts'
import { openPins, type PinStore } from '../approval/pin-store.ts'
import { type GrantStore, openGrants } from '../consent/grants/grant-store.ts'
import type { HostOptions } from '../options.ts'
import { openVault, type Vault } from '../secrets/vault.ts'
import { openAuditLog, type WritableAuditLog } from '../storage/audit/log.ts'

/** Names of files and folders in it; others use them too, such as the command line. */
export const STORAGE_PATHS = {
  grants: 'grants.json',
  pins: 'pins.json',
  budgets: 'budgets.json',
  audit: 'audit',
  secrets: 'secrets',
  tokens: 'tokens',
  inbox: 'inbox',
  policy: 'policy.yaml',
} as const

/** Where a host keeps what must outlive it, unless told otherwise. */
export const hostFolder = (folder?: string): string => resolve(folder ?? userFolder('host'))

export interface HostStorage {
  folder: string
  grants: GrantStore
  pins: PinStore
  audit: WritableAuditLog
  /** Opened at the first use: it may need a keychain or a passphrase. */
  vault(): Promise<Vault>
}

export async function openStorage(
  options: Pick<HostOptions, 'folder' | 'passphrase' | 'keychain' | 'anchor' | 'limits'>,
  scrub: (text: string) => string,
  onWarning: (text: string) => void,
): Promise<HostStorage> {
  const folder = hostFolder(options.folder)
  const { passphrase, keychain, anchor, limits } = options
  await privateFolder(folder)
  const [grants, pins, audit] = await Promise.all([
    openGrants({ file: join(folder, STORAGE_PATHS.grants) }),
    openPins({ file: join(folder, STORAGE_PATHS.pins) }),
    openAuditLog({
      folder: join(folder, STORAGE_PATHS.audit),
      scrub,
      onWarning,
      ...(anchor && { anchor }),
      ...(limits?.audit && { limits: limits.audit }),
    }),
  ])
  let vault: Promise<Vault> | undefined
  return {
    folder,
    grants,
    pins,
    audit,
    vault: () => {
      vault ??= openVault({
        folder: join(folder, STORAGE_PATHS.secrets),
        onWarning,
        ...(passphrase !== undefined && { passphrase }),
        ...(keychain !== undefined && { keychain }),
      })
      return vault
    },
  }
}
