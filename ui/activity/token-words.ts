import { formatNumber } from '../format.ts'

interface Tokens {
  promptTokens: number
  completionTokens: number
  cachedTokens?: number | undefined
  cacheWriteTokens?: number | undefined
  reasoningTokens?: number | undefined
}

/** The tokens of one or all calls of the model, with their parts if there are any. */
export function tokensOf(tokens: Tokens): string {
  const { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = tokens
  const read = partsOf([
    [cachedTokens, 'from the cache'],
    [cacheWriteTokens, 'into the cache'],
  ])
  const written = partsOf([[reasoningTokens, 'thinking']])
  return `${formatNumber(promptTokens)} read${read}, ${formatNumber(completionTokens)} written${written}`
}

function partsOf(parts: readonly (readonly [count: number | undefined, words: string])[]): string {
  const shown = parts.flatMap(([count, words]) =>
    count ? [`${formatNumber(count)} ${words}`] : [],
  )
  return shown.length > 0 ? ` (${shown.join(', ')})` : ''
}
