import type { OpenedStore } from '@agent-server/stores'
import type { FastifyBaseLogger } from 'fastify'
import type { AgentConfiguration } from '../agent/configuration.ts'
import type { Config } from '../config.ts'
import { UsageLedger } from '../operator/usage/ledger.ts'
import { createLimits } from '../operator/usage/limits.ts'
import { UsageReports } from '../operator/usage/report.ts'

/** Prices and limits, which may change while the server runs. */
export type Terms = () => Pick<AgentConfiguration, 'prices' | 'budgets'>

/** Who pays for calls of models, and how that is reported. */
export function openUsage(
  { USAGE_DAYS: days }: Config,
  { usage: store, keys, people }: Pick<OpenedStore, 'usage' | 'keys' | 'people'>,
  terms: Terms,
  log: FastifyBaseLogger,
) {
  const limits = createLimits({ keys, people, budgets: () => terms().budgets })
  const prices = () => terms().prices
  const ledger = new UsageLedger({ store, limits, prices, days, log })
  return {
    ledger,
    reports: new UsageReports({ store, ledger, limits, prices }),
  }
}
