/** What a server needs from its surroundings and can be given another way: the default of each is in memory.ts. */

/** Something changed that clients may want to hear about. */
export type Change = { kind: 'tools' | 'prompts' | 'resources' } | { kind: 'resource'; uri: string }

/** Carries changes from whoever made them to every replica that has listeners. */
export interface Bus {
  publish(change: Change): void
  /** Returns what ends the subscription. */
  subscribe(listener: (change: Change) => void): () => void
}

export interface SealingKey {
  id: string
  /** 32 bytes. */
  secret: Uint8Array
}

/** The secrets that state given to clients is sealed with. Every replica must have the same. */
export interface KeyRing {
  /** What new state is sealed with. */
  current(): SealingKey
  /** What older state may still be sealed with. */
  find(id: string): SealingKey | undefined
}
