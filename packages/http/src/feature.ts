import type { Labels, VariableShape } from '@agent-server/lib/variable-types.ts'
import type { FastifyPluginOptions } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'

/**
 * What a package adds to the server, which knows it by its line in `src/features.ts`. `Services` are only those that
 * it uses; the compiler checks that the server has them. A kind of index is one, too: see `ChunkIndexDriver`.
 */
export interface Feature<Services extends FastifyPluginOptions = FastifyPluginOptions> {
  name: string
  /** Settings of its own, and what the web UI calls them. */
  variables?: VariableShape
  labels?: Labels<VariableShape>
  /** Loads what binds paths to calls of the services. What that opens, it closes in the hook `onClose` of its app. */
  routes?: () => Promise<FastifyPluginAsyncZod<Services>>
}
