import { AppError } from '@agent-server/lib/errors.ts'
import type { Caller } from '@agent-server/schemas/operator/api-key.ts'
import { isIncluded } from '@agent-server/schemas/visibility.ts'

/** The name under which the model answers alone. */
export const plainName = (modelName: string): string => `${modelName}-plain`

/** Read at each use: they change with the configuration. */
export interface AgentNames {
  /** The first agent's model name; `<name>:<collection>` is the agent over a collection. */
  readonly modelName: string
  /** The further agents by their names, which are models, too, and who may use each. */
  readonly agents: ReadonlyMap<
    string,
    { readonly access?: readonly string[] | undefined; readonly description?: string | undefined }
  >
}

/** A model's name is that of an agent, or `<agent>:<collection>`; any other has no agent, as that of a provider's model. */
export function readModelName(model: string, { modelName, agents }: AgentNames) {
  const names = [modelName, ...agents.keys()]
  const agent = names.find((name) => model === name || model.startsWith(`${name}:`))
  return { agent, collection: model.slice((agent?.length ?? Infinity) + 1) || undefined }
}

export type Models = ReturnType<typeof createModels>

/**
 * The agents that a caller may use as models. The first one is listed for each collection that the caller may see, too;
 * the others are there for them as well.
 */
export function createModels(
  settings: AgentNames,
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
    const { modelName, agents } = settings
    const others = [...agents].filter(([, { access }]) => isIncluded(caller, access))
    const data = [
      modelName,
      ...others.map(([name]) => name),
      ...names.map((name) => `${modelName}:${name}`),
      plainName(modelName),
    ].map(cardOf)
    const page = { has_more: false, first_id: modelName, last_id: data.at(-1)?.id ?? modelName }
    return { object: 'list' as const, data, ...page }
  }
  return {
    list,
    /** Throws AppError `model_not_found`. */
    async get(id: string, caller: Caller, signal: AbortSignal) {
      const { modelName, agents } = settings
      const { agent, collection } = readModelName(id, settings)
      const isVisible = agent !== undefined && isIncluded(caller, agents.get(agent)?.access)
      if (id === plainName(modelName) || (isVisible && id === agent)) return cardOf(id)
      if (isVisible && collection !== undefined) {
        const names = await corpusFor(caller).collections(signal)
        if (names.includes(collection)) return cardOf(id)
      }
      const message = `There is no model "${id}". GET /v1/models lists those that you may use.`
      throw new AppError('model_not_found', message)
    },
  }
}
