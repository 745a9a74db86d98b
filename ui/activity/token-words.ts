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
  const inputParts = partsOf([
    [cachedTokens, 'from the cache'],
    [cacheWriteTokens, 'into the cache'],
  ])
  const outputParts = partsOf([[reasoningTokens, 'thinking']])
  return `${formatNumber(promptTokens)} read${inputParts}, ${formatNumber(completionTokens)} written${outputParts}`
}

function partsOf(parts: readonly (readonly [count: number | undefined, words: string])[]): string {
  const texts = parts.flatMap(([count, words]) =>
    count ? [`${formatNumber(count)} ${words}`] : [],
  )
  return texts.length > 0 ? ` (${texts.join(', ')})` : ''
}
