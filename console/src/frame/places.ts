/** The pages of the console, in the order of the sidebar, with their keys. */

import type { IconName } from './icons.tsx'

export interface Place {
  to: '/' | '/servers' | '/tools' | '/resources' | '/prompts' | '/chat' | '/tasks' | '/timeline' | '/policy' | '/audit' | '/settings'
  label: string
  icon: IconName
  /** After `g`. */
  key: string
}

export const PLACES: readonly Place[] = [
  { to: '/', label: 'Home', icon: 'home', key: 'h' },
  { to: '/servers', label: 'Servers', icon: 'servers', key: 's' },
  { to: '/tools', label: 'Tools', icon: 'tools', key: 't' },
  { to: '/resources', label: 'Resources', icon: 'resources', key: 'r' },
  { to: '/prompts', label: 'Prompts', icon: 'prompts', key: 'p' },
  { to: '/chat', label: 'Chat', icon: 'chat', key: 'c' },
  { to: '/tasks', label: 'Tasks', icon: 'tasks', key: 'k' },
  { to: '/timeline', label: 'Timeline', icon: 'timeline', key: 'l' },
  { to: '/policy', label: 'Policy', icon: 'policy', key: 'y' },
  { to: '/audit', label: 'Audit', icon: 'audit', key: 'a' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: ',' },
]
