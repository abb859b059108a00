/** Serves a database file over stdio: `server.ts shop.db`. Without a file it serves the sample. */

import { readFileSync } from 'node:fs'
import { serveStdio } from 'portico/stdio'
import { makeDatabase, openReadOnly } from './database.ts'
import { databaseServer, SAMPLE } from './shop.ts'

const file = process.argv[2]
serveStdio(databaseServer(openReadOnly(file === undefined ? makeDatabase(SAMPLE) : readFileSync(file))))
