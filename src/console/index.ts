/** The console: a host in the browser. It has an HTTP API on 127.0.0.1, and the page that uses it. */

export type * from './api.ts'
export { type ConsoleAsker, type ConsoleAskerOptions, consoleAsker, type QuestionListener } from './asker.ts'
export { type Console, type ConsoleOptions, createConsole } from './create-console.ts'
export { type ConsoleFeed, type ConsoleFeedOptions, consoleFeed, type FeedListener, type TrafficListener } from './feed.ts'
export { type ConsoleLimits, DEFAULT_CONSOLE_LIMITS } from './limits.ts'
export type { ImportPlaces, TourOptions, TourServer } from './services.ts'
export type { TimelineLimits } from './timeline/timeline.ts'
