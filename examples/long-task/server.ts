/** Serves the reports at http://127.0.0.1:8080/mcp. Tasks are kept in the folder `tasks`, also over a restart. */

import { listen } from 'portico/http'
import { fileTaskStore, reportServer } from './report.ts'

const { url } = await listen(reportServer(fileTaskStore('tasks')), { port: 8080 })
console.log(`Reports at ${url}`)
