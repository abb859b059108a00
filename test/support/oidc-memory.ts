/** What the authorization server of the tests remembers. It is kept outside of the provider, so that a restart may keep it. */

type Payload = Record<string, unknown>

/** The storage interface of oidc-provider, one object a kind of thing, all in one map. */
export class Memory {
  readonly #entries = new Map<string, { payload: Payload; expiresAt: number }>()

  clear(): void {
    this.#entries.clear()
  }

  /** Ends every grant and whatever was issued under it, as a user does who withdraws the access. */
  forgetGrants(): void {
    for (const key of this.#entries.keys()) if (!/^(Client|Session|Interaction|ReplayDetection):/.test(key)) this.#entries.delete(key)
  }

  adapter = (kind: string) => {
    const entries = this.#entries
    const find = async (id: string): Promise<Payload | undefined> => {
      const entry = entries.get(`${kind}:${id}`)
      return entry && entry.expiresAt > Date.now() ? entry.payload : undefined
    }
    return {
      find,
      findByUid: async (uid: string) => [...entries.values()].find((entry) => entry.payload.uid === uid)?.payload,
      findByUserCode: async () => undefined,
      upsert: async (id: string, payload: Payload, expiresIn?: number) => {
        entries.set(`${kind}:${id}`, {
          payload,
          expiresAt: expiresIn === undefined ? Number.POSITIVE_INFINITY : Date.now() + expiresIn * 1000,
        })
      },
      consume: async (id: string) => {
        const payload = await find(id)
        if (payload) payload.consumed = Math.floor(Date.now() / 1000)
      },
      destroy: async (id: string) => {
        entries.delete(`${kind}:${id}`)
      },
      revokeByGrantId: async (grantId: string) => {
        for (const [key, { payload }] of entries) if (payload.grantId === grantId) entries.delete(key)
      },
    }
  }
}
