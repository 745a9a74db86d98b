import { AppError } from '@agent-server/lib/errors.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'

/** The name under which the model answers alone. */
export const plainName = (modelName: string): string => `${modelName}-plain`

export type Models = ReturnType<typeof createModels>

/** Lists the agent as models: for all documents, and for each collection that a caller may see. */
export function createModels(
  settings: { readonly modelName: string },
  corpusFor: (caller: Caller) => { collections(signal: AbortSignal): Promise<string[]> },
) {
  const created = Math.floor(Date.now() / 1_000)
  const cardOf = (id: string) => ({
    id,
    object: 'model' as const,
    created,
    owned_by: 'agent-server',
    // As Anthropic's clients read it.
    type: 'model' as const,
    display_name: id,
    created_at: new Date(created * 1_000).toISOString(),
  })
  const list = async (caller: Caller, signal: AbortSignal) => {
    const names = await corpusFor(caller).collections(signal)
    const { modelName } = settings
    const collections = names.map((name) => cardOf(`${modelName}:${name}`))
    const data = [cardOf(modelName), ...collections, cardOf(plainName(modelName))]
    const page = { has_more: false, first_id: modelName, last_id: data.at(-1)?.id ?? modelName }
    return { object: 'list' as const, data, ...page }
  }
  return {
    list,
    /** Throws AppError `model_not_found`. */
    async get(id: string, caller: Caller, signal: AbortSignal) {
      const { modelName } = settings
      if (id === modelName) return cardOf(id)
      const { data } = await list(caller, signal)
      const match = data.find((model) => model.id === id)
      if (match) return match
      const message = `There is no model "${id}". The agent is "${modelName}".`
      throw new AppError('model_not_found', message)
    },
  }
}
