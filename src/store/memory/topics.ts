/** Topics in memory. */

import type { Topics } from '../topics.ts'
import { ExpiringMap } from './expiring-map.ts'

const PAGE = 1000

export function memoryTopics(now: () => number, maxTopics: number, maxMembers: number): Topics {
  const topics = new Map<string, ExpiringMap<true>>()
  const membersOf = (topic: string): ExpiringMap<true> | undefined => {
    const members = topics.get(topic)
    if (members?.size === 0) topics.delete(topic)
    return topics.get(topic)
  }
  const dropEmpty = (): void => {
    for (const topic of [...topics.keys()]) membersOf(topic)
  }
  return {
    add: async (topic, member, ttlMs) => {
      let members = topics.get(topic)
      if (!members) {
        if (topics.size >= maxTopics) dropEmpty()
        members = new ExpiringMap(now, topics.size < maxTopics ? maxMembers : 0, `members of topics, or ${maxTopics} topics`)
      }
      members.set(member, true, ttlMs)
      topics.set(topic, members)
    },
    remove: async (topic, member) => {
      topics.get(topic)?.delete(member)
      membersOf(topic)
    },
    page: async (topic, cursor = '') => {
      const all = (membersOf(topic)?.keys() ?? []).filter((member) => member > cursor).sort()
      const members = all.slice(0, PAGE)
      return { members, next: all.length > PAGE ? members.at(-1) : undefined }
    },
    size: async (topic) => membersOf(topic)?.size ?? 0,
  }
}
