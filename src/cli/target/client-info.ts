/** Who the command says it is. */

import { VERSION } from '../version.ts'

export const CLIENT_INFO = { name: 'portico', title: 'Portico', version: VERSION }
