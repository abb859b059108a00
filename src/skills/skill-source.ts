/** Where a server has its skills from. Types only. */

import type { Resource } from '../protocol/model/resources.ts'
import type { Skill } from '../protocol/model/skills.ts'

/** A file as it is listed, with the digest of its content. */
export interface ServedFile {
  resource: Resource
  digest: string
}

/** All skills at one moment. */
export interface SkillTree {
  skills: readonly Skill[]
  /** By URI. */
  files: ReadonlyMap<string, ServedFile>
  /** The files and folders in each folder, by the URI of the folder. */
  folders: ReadonlyMap<string, readonly Resource[]>
}

export interface SkillSource {
  /** The skills as they were last read. */
  readonly tree: SkillTree
  /** Calls `onChange` after each change of the tree. */
  start(onChange: (before: SkillTree) => void): void
  /** Resolves when all changes that are known so far are in the tree. */
  settled(): Promise<void>
  /** The content of a file, as the tree describes it. Undefined if it is gone. */
  read(uri: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  close(): void
}
