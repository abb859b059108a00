/** All routes of the API. */

import type { ConsoleServices } from '../services.ts'
import type { Route } from '../web/router.ts'
import { addServerRoutes } from './add-server.ts'
import { appRoutes } from './apps.ts'
import { auditRoutes } from './audit.ts'
import { callRoutes } from './calls.ts'
import { chatRoutes } from './chat.ts'
import { consentRoutes } from './consent.ts'
import { modelRoutes } from './models.ts'
import { offeringRoutes } from './offering.ts'
import { policyRoutes } from './policy.ts'
import { serverRoutes } from './servers.ts'
import { sessionRoutes } from './session.ts'
import { skillRoutes } from './skills.ts'
import { taskRoutes } from './tasks.ts'
import { recordingRoutes, timelineRoutes } from './timeline.ts'
import { tourRoutes } from './tour.ts'
import { useRoutes } from './use.ts'
import { writingRoutes } from './writing.ts'

export const consoleRoutes = (services: ConsoleServices): Route[] => [
  ...sessionRoutes(services),
  ...serverRoutes(services),
  ...addServerRoutes(services),
  ...writingRoutes(services),
  ...offeringRoutes(services),
  ...useRoutes(services),
  ...skillRoutes(services),
  ...appRoutes(services),
  ...taskRoutes(services),
  ...consentRoutes(services),
  ...policyRoutes(services),
  ...auditRoutes(services),
  ...callRoutes(services),
  ...chatRoutes(services),
  ...modelRoutes(services),
  ...timelineRoutes(services),
  ...recordingRoutes(services),
  ...tourRoutes(services),
]
