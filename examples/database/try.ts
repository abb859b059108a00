/** Asks questions about the sample, and tries to change it. */

import { connect } from 'portico'
import { makeDatabase, openReadOnly } from './database.ts'
import { databaseServer, SAMPLE } from './shop.ts'

const client = await connect(databaseServer(openReadOnly(makeDatabase(SAMPLE))))

async function query(sql: string, ...parameters: (string | number)[]): Promise<void> {
  const { content } = await client.call('query', { sql, parameters })
  const [answer] = content
  console.log(sql)
  console.log(`  ${answer?.type === 'text' ? answer.text : ''}`)
}

await query('select name, sum(amount) as total from orders join customers on customer = customers.id group by name order by total desc')
await query('select name from customers where country = ?', 'PT')
await query('delete from orders')
await query("attach 'other.db' as other")
await query('with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n')
await client.close()
