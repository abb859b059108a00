/** The server: a tool that runs SQL, and the schema as a resource. */

import { createServer, type Server, ToolError } from 'portico/server'
import { z } from 'zod'
import { asText, type ReadOnlyDatabase } from './database.ts'

export const SAMPLE = `
  create table customers (id integer primary key, name text not null, country text not null);
  create table orders (id integer primary key, customer integer not null references customers, amount real not null);
  insert into customers values (1, 'Anna', 'NO'), (2, 'Ben', 'PT'), (3, 'Carla', 'PT');
  insert into orders values (1, 1, 20.5), (2, 1, 9.5), (3, 2, 100), (4, 3, 7);
`

export function databaseServer(db: ReadOnlyDatabase): Server {
  const server = createServer({ name: 'database', version: '1.0.0', instructions: 'Read the resource db://schema before you write SQL.' })

  server.resource('db://schema', { name: 'schema', description: 'The tables', mimeType: 'application/sql' }, () =>
    db
      .query("select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by name")
      .rows.map(({ sql }) => `${sql};`)
      .join('\n'),
  )

  server.tool(
    'query',
    {
      description: 'Runs one SELECT statement of SQLite. Returns at most 100 rows. Use ? for values, and give them as parameters.',
      input: z.object({ sql: z.string().max(10_000), parameters: z.array(z.union([z.string(), z.number(), z.null()])).default([]) }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ sql, parameters }) => {
      try {
        return JSON.stringify(db.query(sql, parameters), asText)
      } catch (error) {
        // The model needs to know what is wrong with its SQL.
        throw new ToolError(error instanceof Error ? error.message : String(error))
      }
    },
  )
  return server
}
