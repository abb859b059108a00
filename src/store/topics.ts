/** Which sessions are interested in what: subscribers of a resource, or all sessions. Types only. */

/** One part of the members of a topic. */
export interface TopicPage {
  members: string[]
  /** For the next page; undefined after the last. */
  next: string | undefined
}

/** Sets of sessions by topic. Members expire, so that a session that ended without notice does not stay. */
export interface Topics {
  /** Adds a member, or moves its expiry. */
  add(topic: string, member: string, ttlMs: number): Promise<void>
  remove(topic: string, member: string): Promise<void>
  /** Every member that is there from the first page to the last is on a page, perhaps on two. */
  page(topic: string, cursor?: string): Promise<TopicPage>
  size(topic: string): Promise<number>
  /** Some members, chosen at random, each once: `count`, or all if there are fewer. Members that expired may be among them. */
  sample(topic: string, count: number): Promise<string[]>
}
