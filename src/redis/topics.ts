/** Topics in Redis: sorted sets with the expiry of each member. */

import type { Topics } from '../store/topics.ts'
import type { Reply } from './client-library.ts'
import { type RedisContext, textOf } from './context.ts'
import { addMember } from './scripts/add-member.ts'
import { countMembers } from './scripts/count-members.ts'
import { listMembers } from './scripts/list-members.ts'

export function redisTopics({ connection, keys }: RedisContext): Topics {
  return {
    add: async (topic, member, ttlMs) => {
      await connection.run(addMember, [keys.topic(topic)], [member, Math.ceil(ttlMs)])
    },
    remove: async (topic, member) => {
      await connection.command('ZREM', keys.topic(topic), member)
    },
    page: async (topic, cursor = '0') => {
      const reply = await connection.run(listMembers, [keys.topic(topic)], [/^\d{1,20}$/.test(cursor) ? cursor : '0'])
      const [next, members] = reply as [Reply, Reply[]]
      return { members: members.map(textOf), next: textOf(next) || undefined }
    },
    sample: async (topic, count) => {
      // The first versions of Redis 6.2 have no reply for a key that does not exist.
      const members = (await connection.command('ZRANDMEMBER', keys.topic(topic), count)) as Reply[] | null
      return members?.map(textOf) ?? []
    },
    size: async (topic) => Number(await connection.run(countMembers, [keys.topic(topic)], [])),
  }
}
