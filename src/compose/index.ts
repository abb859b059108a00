/** portico/compose: change what a mounted server offers. */

export type { MountChanges } from '../server/index.ts'
export {
  type ArgumentChange,
  type PromptChange,
  type ResourceChange,
  type ToolChange,
  type Transformation,
  transform,
} from './transform.ts'
