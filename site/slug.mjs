/** The anchor of a heading, as GitHub makes it, so that a link works in both places. */
export const slug = (text) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
