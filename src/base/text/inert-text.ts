/** Makes links and images inert in text that a person will see. */

/** HTML elements that load, run or link to something. */
export const ACTIVE_TAG =
  /<(img|image|script|iframe|frame|object|embed|link|style|svg|video|audio|source|track|picture|form|input|base|meta|a)(?=[\s/>])/gi

/**
 * Returns the text with one space in each place where Markdown and HTML allow none, so that a viewer renders no link and loads
 * no image. The addresses stay readable. Applying it twice changes nothing more.
 *
 * @example
 * inertText('![logo](https://example.com/x.png)') // '![logo] (https://example.com/x.png)'
 */
export const inertText = (text: string): string =>
  text
    .replaceAll('](', '] (')
    .replace(/^([ \t>*+-]{0,12}\[[^\]\n]{1,300}\]):/gm, '$1 :')
    .replace(/<(?=[a-z][a-z0-9+.-]{1,20}:)/gi, '< ')
    .replace(ACTIVE_TAG, '< $1')
