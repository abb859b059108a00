/** The lines of the ledger that `npm run proof` prints, from the results that vitest writes. */

/** One line for each test that counted something, with its counts, and what it could not prove. Tests that were skipped have none. */
export function ledgerOf({ testResults }) {
  const lines = []
  let open = 0
  for (const { assertionResults } of testResults) {
    for (const { fullName, status, meta: { counted, notProved = [] } = {} } of assertionResults) {
      if (counted === undefined && notProved.length === 0) continue
      const verdict = status !== 'passed' ? 'FAILED' : notProved.length > 0 ? 'NOT PROVED' : 'ok'
      if (verdict === 'NOT PROVED') open++
      lines.push(`${verdict.padEnd(10)} ${fullName}`)
      for (const what of notProved) lines.push(`             not proved in this run: ${what}`)
      for (const [name, number] of Object.entries(counted ?? {})) lines.push(`             ${number.toLocaleString('en')} ${name}`)
    }
  }
  if (open > 0) lines.push(`${open} of these tests did not prove everything: run them again on a machine that is less busy`)
  return lines
}
