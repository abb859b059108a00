/** Opens the files of a host: one folder, shared by all host processes of a user. */

import { join, resolve } from 'node:path'
import type { Keychain } from '../../auth/store/options.ts'
import { privateFolder } from '../../files/private-file.ts'
import { sharedJson } from '../../files/shared-json.ts'
import { userFolder } from '../../files/user-folder.ts'
import { openPins, type PinStore } from '../approval/pin-store.ts'
import { type GrantStore, openGrants } from '../consent/grants/grant-store.ts'
import type { ConversationStore } from '../conversation/chat/conversation-store.ts'
import { openConversations } from '../conversation/chat/open-conversations.ts'
import { openVault, type Vault } from '../secrets/vault.ts'
import type { AnchorSink } from '../storage/audit/anchor.ts'
import { openAuditLog, type WritableAuditLog } from '../storage/audit/log.ts'
import type { AuditRetention } from '../storage/audit/retention.ts'

/**
 * Names of the files and folders in the folder of a host.
 * @example
 * const inbox = await openInbox({ folder: join(hostFolder(), STORAGE_PATHS.inbox) })
 */
export const STORAGE_PATHS = {
  format: 'format.json',
  grants: 'grants.json',
  pins: 'pins.json',
  budgets: 'budgets.json',
  audit: 'audit',
  secrets: 'secrets',
  tokens: 'tokens',
  inbox: 'inbox',
  conversations: 'conversations',
  tasks: 'tasks',
  policy: 'policy.yaml',
} as const

/**
 * The folder of a host as an absolute path. Default: a folder in the home directory of the user.
 * @example
 * const folder = hostFolder()
 */
export const hostFolder = (folder?: string): string => resolve(folder ?? userFolder('host'))

/** Everything that a host stores on the disk. */
export interface HostStorage {
  folder: string
  grants: GrantStore
  pins: PinStore
  audit: WritableAuditLog
  conversations: ConversationStore
  /** Opens the vault with the first call, because that may need a keychain or a passphrase. */
  vault(): Promise<Vault>
}

export interface StorageOptions {
  folder?: string | undefined
  passphrase?: string | undefined
  keychain?: Keychain | false | undefined
  anchor?: AnchorSink | undefined
  retention?: AuditRetention | undefined
  /** Removes secrets from text before it is written to the audit log. */
  scrub(text: string): string
  onWarning(text: string): void
}

/** The version of everything in the folder that has no version of its own: the audit log, the inbox, secrets and tokens. */
const FOLDER_FORMAT = { version: 1, upgrades: [(data: unknown) => data] }

/** @throws McpError ERR_STORE if a newer version of Portico wrote the folder */
async function checkFormat(folder: string): Promise<void> {
  const file = sharedJson<object>(join(folder, STORAGE_PATHS.format), {
    empty: NOT_WRITTEN,
    format: FOLDER_FORMAT,
    check: (value) => value as object,
  })
  if ((await file.read()) === NOT_WRITTEN) await file.update(() => ({}))
}

const NOT_WRITTEN = {}

export async function openStorage(options: StorageOptions): Promise<HostStorage> {
  const folder = hostFolder(options.folder)
  const { passphrase, keychain, anchor, retention, scrub, onWarning } = options
  await privateFolder(folder)
  await checkFormat(folder)
  const [grants, pins, audit] = await Promise.all([
    openGrants({ file: join(folder, STORAGE_PATHS.grants) }),
    openPins({ file: join(folder, STORAGE_PATHS.pins) }),
    openAuditLog({ folder: join(folder, STORAGE_PATHS.audit), scrub, onWarning, anchor, retention }),
  ])
  let vault: Promise<Vault> | undefined
  return {
    folder,
    grants,
    pins,
    audit,
    conversations: openConversations({ folder: join(folder, STORAGE_PATHS.conversations), scrub }),
    vault: () => {
      vault ??= openVault({ folder: join(folder, STORAGE_PATHS.secrets), onWarning, passphrase, keychain })
      return vault
    },
  }
}
