export { qdrant } from './driver.ts'
