/** Where well-known servers are; one that asks for no key is given any. */
export const PRESETS: readonly { name: string; url: string; key?: string }[] = [
  { name: 'OpenAI', url: 'https://api.openai.com/v1' },
  { name: 'Ollama, on this machine', url: 'http://localhost:11434/v1', key: 'none' },
  { name: 'vLLM, on this machine', url: 'http://localhost:8000/v1', key: 'none' },
  { name: 'LM Studio, on this machine', url: 'http://localhost:1234/v1', key: 'none' },
  { name: 'OpenRouter', url: 'https://openrouter.ai/api/v1' },
  { name: 'Azure OpenAI', url: 'https://RESOURCE.openai.azure.com/openai/v1' },
  { name: 'Gemini', url: 'https://generativelanguage.googleapis.com/v1beta/openai' },
]
