export { deploy } from './command.ts'
export { createDeployments } from './deployments.ts'
