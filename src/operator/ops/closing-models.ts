import { repeat } from '@agent-server/lib/abort.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { closingNotice } from '@agent-server/models'
import type { ModelKind } from '@agent-server/schemas/operator/admin.ts'
import type { Readiness } from '@agent-server/schemas/operator/ops.ts'

/** A configured model that its server may close. */
export interface ServedModel {
  kind: ModelKind
  model: string
  /** The variable that names it. */
  setting: string
  /** The day on which it is closed, if that is announced. Throws only the abort reason. */
  closesOn(signal: AbortSignal): Promise<string | undefined>
}

/** The first look is after the start's own work; later ones are in case something is announced. */
const LOOKS = { firstMs: 1_000, everyMs: 86_400_000 }

type Warning = NonNullable<Readiness['warnings']>[number]

interface Dependencies {
  models: readonly ServedModel[]
  log: Pick<Log, 'warn'>
}

/** Follows which of the models in use are about to be closed, and logs each once. */
export function createClosingModels({ models, log }: Dependencies) {
  const days = new Map<ServedModel, string>()
  const logLines = new Set<string>()

  const warningOf = (entry: ServedModel): Warning[] => {
    const { model, setting } = entry
    const closesOn = days.get(entry)
    const message = closesOn && closingNotice({ model, setting, closesOn })
    return message ? [{ code: 'model_closes', model, closesOn, message }] : []
  }

  async function look(signal: AbortSignal): Promise<void> {
    for (const entry of models) {
      const day = await entry.closesOn(signal)
      if (day === undefined) days.delete(entry)
      else days.set(entry, day)
      for (const { message, model, closesOn } of warningOf(entry)) {
        const line = `${entry.kind} ${closesOn}`
        if (!logLines.has(line)) log.warn({ model, closesOn }, message)
        logLines.add(line)
      }
    }
  }

  return {
    /** Follows them until `signal` is aborted. */
    run: (signal: AbortSignal) => repeat(() => look(signal), LOOKS, signal),
    /** Warnings of models that close within the time of a notice, as far as is known. */
    warnings: (): Warning[] => models.flatMap(warningOf),
  }
}
