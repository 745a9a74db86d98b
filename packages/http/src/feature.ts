import type { FastifyPluginOptions } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'

/**
 * What a package adds to the server, which knows it by its line in `src/features.ts`. `Services` are only those that
 * it uses; the compiler checks that the server has them.
 */
export interface Feature<Services extends FastifyPluginOptions = FastifyPluginOptions> {
  name: string
  /** Binds paths to calls of the services. What it opens, it closes in the hook `onClose` of the app that it gets. */
  routes: FastifyPluginAsyncZod<Services>
}
