/** The largest values of options that `listen` and `portico serve` share. */

/** More would only compete for the machine. */
export const MAX_WORKERS = 256

/** A larger number is a mistake: the server would trust addresses that clients invent. */
export const MAX_PROXIES = 16
