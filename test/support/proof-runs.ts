/** How many runs a property gets: a moderate number in the suite, more where PORTICO_PROOF_RUNS multiplies it for a long run. */
export function proofRuns(usual: number): number {
  const factor = Number(process.env.PORTICO_PROOF_RUNS ?? 1)
  if (!(factor >= 1))
    throw new Error(`PORTICO_PROOF_RUNS must be a number of at least 1, and is ${JSON.stringify(process.env.PORTICO_PROOF_RUNS)}`)
  return Math.round(usual * factor)
}
