/** Topics in memory. */

import type { Topics } from '../topics.ts'
import { ExpiringMap } from './expiring-map.ts'

const PAGE = 1000

/** Topics of one kind are counted together, so that subscriptions do not take the room of new callers. */
const kindOf = (topic: string): string => topic.slice(0, Math.max(0, topic.indexOf(' ')))

export function memoryTopics(now: () => number, maxTopics: number, maxMembers: number): Topics {
  const topics = new Map<string, ExpiringMap<true>>()
  const counts = new Map<string, number>()
  const count = (topic: string, change: number): void => void counts.set(kindOf(topic), countOf(topic) + change)
  const countOf = (topic: string): number => counts.get(kindOf(topic)) ?? 0
  const membersOf = (topic: string): ExpiringMap<true> | undefined => {
    const members = topics.get(topic)
    if (members?.size === 0 && topics.delete(topic)) count(topic, -1)
    return topics.get(topic)
  }
  const dropEmpty = (): void => {
    for (const topic of [...topics.keys()]) membersOf(topic)
  }
  return {
    add: async (topic, member, ttlMs) => {
      let members = topics.get(topic)
      if (!members) {
        if (countOf(topic) >= maxTopics) dropEmpty()
        members = new ExpiringMap(now, countOf(topic) < maxTopics ? maxMembers : 0, `members of topics, or ${maxTopics} topics`)
      }
      members.set(member, true, ttlMs)
      if (!topics.has(topic)) count(topic, 1)
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
    sample: async (topic, count) => someOf(membersOf(topic)?.keys() ?? [], count),
  }
}

function someOf(members: string[], count: number): string[] {
  const some: string[] = []
  while (some.length < count && members.length > 0) {
    const at = Math.floor(Math.random() * members.length)
    some.push(members[at] as string)
    members[at] = members.at(-1) as string
    members.pop()
  }
  return some
}
