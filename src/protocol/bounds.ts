/** Bounds that hold on both sides of a conversation. They stand with the reader: a file of their own is one more to load at start. */

export { ANSWER_BOUNDS, answerBounds, DEFAULT_MAX_LINE_BYTES, DEFAULT_READ_BOUNDS } from '../jsonrpc/read.ts'
