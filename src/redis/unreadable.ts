/** Reports values that this replica cannot open, because another one has other keys. Limits these reports: there may be thousands. */

import { notices } from '../base/notices.ts'
import { Bucket } from '../base/rate.ts'

const REPORTS = { perSecond: 0.1, burst: 10 }

/** @param what the beginning of a sentence about the value */
export type ReportUnreadable = (what: string, error: unknown) => void

export function unreadableReports(): ReportUnreadable {
  const reports = new Bucket(REPORTS, Date.now())
  return (what, error) => {
    if (reports.take(Date.now()) === 0) notices.write('error', `portico: ${what}: ${(error as Error).message}`)
  }
}
