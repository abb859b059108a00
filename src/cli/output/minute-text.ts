/** A time for tables, to the minute, in UTC: `2026-05-01 14:30`. */
export const minuteText = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
