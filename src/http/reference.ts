import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

// Without `upgrade-insecure-requests`, which leaves the page blank wherever the server is reached over plain HTTP.
const CONTENT_SECURITY_POLICY = {
  'default-src': "'self'",
  'base-uri': "'self'",
  'frame-ancestors': "'self'",
  'img-src': "'self' data:",
  'object-src': "'none'",
  // Swagger UI draws its icons with inline styles.
  'style-src': "'self' 'unsafe-inline'",
}

const STYLE = '.swagger-ui .topbar { display: none }'

/** `/openapi.json` and the interactive `/reference`; both public, both without anything from elsewhere. */
export async function installReference(app: FastifyInstance): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, public: true }
      route.logLevel = 'warn'
    })
    scope.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
    await scope.register(swaggerUi, {
      routePrefix: '/reference',
      staticCSP: CONTENT_SECURITY_POLICY,
      // Its own bar shows another product's logo, and a field for contracts of other servers.
      theme: { title: 'Agent Server', css: [{ filename: 'agent-server.css', content: STYLE }] },
      uiConfig: { persistAuthorization: true, displayRequestDuration: true, docExpansion: 'list' },
    })
  })
}
