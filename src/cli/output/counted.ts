export { counted } from '../../base/text/counted.ts'
