import type { UsageEntry } from '@agent-server/stores'

/** One call of a model, with what a test says of it. */
export const usageOf = (more: Partial<UsageEntry> = {}): UsageEntry => ({
  day: 20_000,
  person: '',
  key: '',
  payer: '',
  groups: [],
  agent: 'agent',
  model: 'a-model',
  calls: 1,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  cost: 0,
  unpricedCalls: 0,
  ...more,
})
