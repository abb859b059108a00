/** One client starts a report and leaves. Another one watches it and reads the result. A third one is impatient. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { connect } from 'portico'
import { listen } from 'portico/http'
import { fileTaskStore, reportServer } from './report.ts'

const folder = await mkdtemp(`${tmpdir()}/portico-reports-`)
const { url, close } = await listen(reportServer(fileTaskStore(folder), 20))

const first = await connect(url)
const { id = '', status } = await first.callTask('report', { year: 2026 })
console.log(`The first client started a task: ${status}`)
await first.close()

const second = await connect(url)
const task = await second.resumeTask(id, { tool: 'report' })
const { content } = await task.result()
console.log('The second client reads:', content)

const slow = await second.callTask('report', { year: 2025 })
await slow.cancel()
await slow.result().catch((error: Error) => console.log(`The second report was cancelled: ${'code' in error ? error.code : error.message}`))

await second.close()
await close()
await rm(folder, { recursive: true })
