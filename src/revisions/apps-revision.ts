/** The revision of the messages between views and hosts. It is no revision of the protocol itself. */

export const APPS_REVISION = '2026-01-26'
