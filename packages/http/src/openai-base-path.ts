import type { FastifyRequest } from 'fastify'

/**
 * A second base path, `/openai/v1`, for the routes below `/v1`. There, whatever a request omits has OpenAI's own
 * default, so that completions are streamed only if asked for.
 */
const PREFIX = '/openai'
const BASE = `${PREFIX}/v1/`

/** The path of the route that serves a URL. */
export const withoutOpenAiPrefix = (url: string) =>
  url.startsWith(BASE) ? url.slice(PREFIX.length) : url

export const hasOpenAiDefaults = ({ originalUrl }: Pick<FastifyRequest, 'originalUrl'>) =>
  originalUrl.startsWith(BASE)
