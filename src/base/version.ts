/** The version of this package. A test compares it with package.json: modules that run in browsers cannot read that file. */

export const VERSION = '0.1.0'
