/** The addresses of the pages. Each page is loaded when it is first opened. */

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { Frame } from './frame/frame.tsx'
import { NotFound, PageFailed, PageLoading } from './frame/page-states.tsx'
import {
  auditSearch,
  chatSearch,
  policySearch,
  promptsSearch,
  resourcesSearch,
  serversSearch,
  settingsSearch,
  tasksSearch,
  timelineSearch,
  toolsSearch,
  tourSearch,
} from './pages/searches.ts'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home/page.tsx'), 'HomePage'),
})

const servers = createRoute({
  getParentRoute: () => root,
  path: '/servers',
  validateSearch: serversSearch,
  component: lazyRouteComponent(() => import('./pages/servers/page.tsx'), 'ServersPage'),
})

const tools = createRoute({
  getParentRoute: () => root,
  path: '/tools',
  validateSearch: toolsSearch,
  component: lazyRouteComponent(() => import('./pages/tools/page.tsx'), 'ToolsPage'),
})

const resources = createRoute({
  getParentRoute: () => root,
  path: '/resources',
  validateSearch: resourcesSearch,
  component: lazyRouteComponent(() => import('./pages/resources/page.tsx'), 'ResourcesPage'),
})

const prompts = createRoute({
  getParentRoute: () => root,
  path: '/prompts',
  validateSearch: promptsSearch,
  component: lazyRouteComponent(() => import('./pages/prompts/page.tsx'), 'PromptsPage'),
})

const chat = createRoute({
  getParentRoute: () => root,
  path: '/chat',
  validateSearch: chatSearch,
  component: lazyRouteComponent(() => import('./pages/chat/page.tsx'), 'ChatPage'),
})

const tasks = createRoute({
  getParentRoute: () => root,
  path: '/tasks',
  validateSearch: tasksSearch,
  component: lazyRouteComponent(() => import('./pages/tasks/page.tsx'), 'TasksPage'),
})

const timeline = createRoute({
  getParentRoute: () => root,
  path: '/timeline',
  validateSearch: timelineSearch,
  component: lazyRouteComponent(() => import('./pages/timeline/page.tsx'), 'TimelinePage'),
})

const policy = createRoute({
  getParentRoute: () => root,
  path: '/policy',
  validateSearch: policySearch,
  component: lazyRouteComponent(() => import('./pages/policy/page.tsx'), 'PolicyPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./pages/audit/page.tsx'), 'AuditPage'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: settingsSearch,
  component: lazyRouteComponent(() => import('./pages/settings/page.tsx'), 'SettingsPage'),
})

const tour = createRoute({
  getParentRoute: () => root,
  path: '/tour',
  validateSearch: tourSearch,
  component: lazyRouteComponent(() => import('./pages/tour/page.tsx'), 'TourPage'),
})

/** The tray as a page of its own, for narrow windows. */
const waiting = createRoute({
  getParentRoute: () => root,
  path: '/waiting',
  component: lazyRouteComponent(() => import('./pages/waiting/page.tsx'), 'WaitingPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([home, servers, tools, resources, prompts, chat, tasks, timeline, policy, audit, settings, tour, waiting]),
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageFailed,
  // Each page scrolls inside the frame.
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
