/** Writes the preset into a policy file. Rules and comments stay as they are. */

import { dirname } from 'node:path'
import { parseDocument } from 'yaml'
import { privateFolder, writePrivate } from '../../files/private-file.ts'
import type { Preset } from '../model/rule.ts'
import { parseRules, readBounded } from './policy-file.ts'
import { DEFAULT_POLICY_LIMITS } from './policy-schema.ts'

/** @throws McpError ERR_CONFIG if the file cannot be read or is not a valid policy */
export async function writePreset(file: string, preset: Preset): Promise<void> {
  const text = (await readBounded(file, DEFAULT_POLICY_LIMITS.maxFileBytes)) ?? 'rules: []\n'
  // An invalid file stays as it is: the person must see their mistake.
  parseRules(text, file)
  const document = parseDocument(text)
  document.set('preset', preset)
  await privateFolder(dirname(file))
  await writePrivate(file, Buffer.from(String(document)))
}
