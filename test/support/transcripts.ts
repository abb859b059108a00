/** Tests that play transcripts: a folder for each revision, a file for each feature, whose first line is the title with its rows. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { proves } from './proves.ts'

const isUpdating = process.env.UPDATE_WIRE === '1'

/** @param play returns the lines as they should be; with UPDATE_WIRE=1 they are written */
export function testTranscripts(folder: string, play: (lines: readonly string[], revision: string) => Promise<string[]>): void {
  for (const revision of readdirSync(folder).sort()) {
    describe(revision, () => {
      for (const name of readdirSync(`${folder}${revision}`).sort()) {
        const file = `${folder}${revision}/${name}`
        const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
        const [title = '', ...ids] = (lines[0]?.slice(2) ?? '').split(/ ?[[\]]+ ?/).filter((part) => part !== '')
        test(`${name.replace('.txt', '')}: ${title}`, async () => {
          proves(...ids)
          const written = await play(lines, revision)
          if (isUpdating) writeFileSync(file, `${written.join('\n')}\n`)
          expect(written).toEqual(isUpdating ? written : lines)
        })
      }
    })
  }
}
