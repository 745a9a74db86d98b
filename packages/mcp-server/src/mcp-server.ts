export { mcpRoutes } from './routes.ts'
export { signInRoutes } from './sign-in/routes.ts'
