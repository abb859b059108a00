/** All routes of the API. */

import type { ConsoleServices } from '../services.ts'
import type { Route } from '../web/router.ts'
import { chatRoutes } from './chat.ts'
import { consentRoutes } from './consent.ts'
import { demoRoutes } from './demo.ts'
import { importRoutes } from './import.ts'
import { offeringRoutes } from './offering.ts'
import { policyRoutes } from './policy.ts'
import { serverRoutes } from './servers.ts'
import { sessionRoutes } from './session.ts'
import { useRoutes } from './use.ts'

export const consoleRoutes = (services: ConsoleServices): Route[] => [
  ...sessionRoutes(services),
  ...serverRoutes(services),
  ...importRoutes(services),
  ...offeringRoutes(services),
  ...useRoutes(services),
  ...consentRoutes(services),
  ...policyRoutes(services),
  ...chatRoutes(services),
  ...demoRoutes(services),
]
