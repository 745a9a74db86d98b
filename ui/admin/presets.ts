import type { ModelTestRequest } from '../../packages/client/src/agent-server.ts'

/** The values that a choice fills in: the address of a server, or a model that needs none. */
export interface Preset {
  name: string
  url?: string
  /** For a server that asks for no key: any. */
  key?: string
  model?: string
  /** What its models are for, where that is one thing only. */
  onlyFor?: 'chat'
}

/** Where well-known servers are. */
export const PRESETS: readonly Preset[] = [
  { name: 'OpenAI', url: 'https://api.openai.com/v1' },
  { name: 'Anthropic', url: 'https://api.anthropic.com/v1', onlyFor: 'chat' },
  { name: 'Ollama, on this machine', url: 'http://localhost:11434/v1', key: 'none' },
  { name: 'vLLM, on this machine', url: 'http://localhost:8000/v1', key: 'none' },
  { name: 'LM Studio, on this machine', url: 'http://localhost:1234/v1', key: 'none' },
  { name: 'OpenRouter', url: 'https://openrouter.ai/api/v1' },
  { name: 'Azure OpenAI', url: 'https://RESOURCE.openai.azure.com/openai/v1' },
  { name: 'Gemini', url: 'https://generativelanguage.googleapis.com/v1beta/openai' },
]

/** The one that these values come from. */
export const presetOf = (presets: readonly Preset[], model: string, url: string) =>
  presets.find((one) => one.model !== undefined && one.model === model) ??
  presets.find((one) => one.url !== undefined && one.url === url.replace(/\/+$/, ''))

export const BUILT_IN: Preset = { name: 'Built in (English, needs no server)', model: 'builtin' }
export const BUILT_IN_MULTILINGUAL: Preset = {
  name: 'Built in (100 languages, to be installed)',
  model: 'builtin-multilingual',
}

/** Models that need no server, by purpose. */
export const SERVERLESS: Readonly<Record<ModelTestRequest['kind'], readonly Preset[]>> = {
  chat: [{ name: 'Built in (quotes the documents)', model: 'extractive' }],
  embedding: [
    BUILT_IN,
    BUILT_IN_MULTILINGUAL,
    { name: 'None (keyword search only)', model: 'none' },
  ],
  reranking: [{ name: 'The chat model (uses tokens with every search)', model: 'chat' }],
}
