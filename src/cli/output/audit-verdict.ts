/** The result of checking the audit log. */

import type { AuditVerdict } from '../../host/index.ts'
import { counted } from './counted.ts'
import { safe } from './safe-text.ts'
import type { Screen } from './screen.ts'

/** @param anchors the file that the log was compared with */
export function printVerdict(
  screen: Screen,
  { firstBad, records, retired, recovered, unmatchedIntents, signedUpTo }: AuditVerdict,
  anchors?: string,
): void {
  const { style } = screen
  if (firstBad) {
    // A record that is missing has no line.
    const place = firstBad.line === 0 ? firstBad.segment : `${firstBad.segment}, line ${firstBad.line}`
    screen.print(safe`${style.red('✗')} record ${firstBad.seq} (${place}): ${firstBad.reason}`)
  } else {
    const signed = signedUpTo > 0 ? `signed up to record ${signedUpTo}` : 'none signed yet'
    screen.print(safe`${style.green('✓')} ${counted(records, 'record')} intact, ${signed}`)
    if (retired > 0)
      screen.print(
        style.dim(`  ${counted(retired, 'older record')} ${retired === 1 ? 'was' : 'were'} archived or removed, as the log says.`),
      )
    screen.print(
      style.dim(
        anchors === undefined
          ? '  Not checked: whether records were cut off at the end. That needs a checkpoint stored elsewhere (audit anchor, verify --anchors).'
          : `  Nothing is missing up to the newest checkpoint in ${anchors}. Later records could have been cut off.`,
      ),
    )
  }
  if (recovered > 0)
    screen.print(
      safe`${style.yellow('!')} The last record was incomplete ${recovered === 1 ? 'once' : counted(recovered, 'time')}. A crash, or a cut file, can cause this`,
    )
  if (unmatchedIntents.length > 0)
    screen.print(safe`${style.yellow('!')} ${counted(unmatchedIntents.length, 'action')} started without a recorded outcome`)
}
