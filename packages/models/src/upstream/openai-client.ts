import { baseOf, libraryOptions, onePerServer } from './connection.ts'

/** OpenAI's library for a server; nothing of it comes from the environment. */
export const openAiClient = onePerServer(async (server) => {
  const { OpenAI } = await import('openai')
  const none = { adminAPIKey: null, organization: null, project: null, webhookSecret: null }
  return new OpenAI({ ...libraryOptions(server), ...none, baseURL: baseOf(server) })
})
