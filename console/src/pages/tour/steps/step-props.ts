/** What every step of the tour gets. */

export interface StepProps {
  /** The person has seen what the step shows. */
  onDone(): void
}
