/** The icons of the frame, 16 px, drawn with one line. */

import type { ReactNode } from 'react'

const PATHS = {
  home: 'M2.500 7 8 2.500 13.500 7v6.500h-4v-4h-3v4h-4z',
  servers: 'M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5h.01M5 11h.01',
  tools: 'M9.500 6.500 3 13M8.500 4.500a3 3 0 0 1 4-2l-2 2 1 1 2-2a3 3 0 0 1-4 4M3 13l-.500.500',
  resources: 'M3.500 2h6l3 3v9h-9zM9.500 2v3h3M5.500 8h5M5.500 11h5',
  prompts: 'M2.500 3h11v7.500h-6L4.500 13v-2.500h-2z',
  chat: 'M2 3h9v6H6l-2.500 2V9H2zM13 6h1v6h-1.500v2L10 12H7',
  tasks: 'M2.500 4l1.200 1.200L6 3M8 4h6M2.500 10l1.200 1.200L6 9M8 10h6M8 13h3',
  timeline: 'M2 4h5M9 4h5M4 8h8M2 12h3M8 12h6',
  policy: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
  audit: 'M3.500 2h9v12h-9zM6 5h4M6 8h4M6 11h2',
  settings: 'M2 4.500h7M12 4.500h2M2 11.500h2M7 11.500h7M10.500 3v3M5.500 10v3',
  search: 'M7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8M10 10l3.500 3.500',
  waiting: 'M8 2.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11M8 5v3.500l2 1.500',
  more: 'M3.500 8h.01M8 8h.01M12.500 8h.01',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }): ReactNode => (
  <svg
    width="16"
    height="16"
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.400"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
)
