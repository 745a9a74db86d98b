import { useSignal } from '@preact/signals'
import { Choice } from './controls.tsx'
import { CopyButton } from './copy.tsx'

const QUESTION = 'When does the library open on Saturdays?'

interface Snippet {
  name: string
  text: (endpoint: string) => string
}

const SNIPPETS: readonly Snippet[] = [
  {
    name: 'curl',
    text: (endpoint) => `export KEY=<the server key>

curl '${endpoint}/documents?wait=30' \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"title": "Opening hours", "text": "On Saturdays the library opens at ten."}'

curl -N ${endpoint}/chat \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"messages": [{"role": "user", "content": "${QUESTION}"}]}'`,
  },
  {
    name: 'openai, JavaScript',
    text: (endpoint) => `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${endpoint}/openai/v1',
  apiKey: process.env.SERVER_API_KEY,
})

const answer = await client.chat.completions.create({
  model: 'agent',
  messages: [{ role: 'user', content: '${QUESTION}' }],
})
console.log(answer.choices[0].message.content)`,
  },
  {
    name: 'openai, Python',
    text: (endpoint) => `import os
from openai import OpenAI

client = OpenAI(
    base_url="${endpoint}/openai/v1",
    api_key=os.environ["SERVER_API_KEY"],
)

answer = client.chat.completions.create(
    model="agent",
    messages=[{"role": "user", "content": "${QUESTION}"}],
)
print(answer.choices[0].message.content)`,
  },
]

/** Code to begin with, for this very server; the key stays in the environment. */
export function Snippets({ endpoint }: { endpoint: string }) {
  const chosen = useSignal('curl')
  const snippet = SNIPPETS.find(({ name }) => name === chosen.value)
  const text = snippet?.text(endpoint) ?? ''
  return (
    <div class="snippets">
      <div class="row">
        <Choice
          legend="Language"
          options={SNIPPETS.map(({ name }) => [name, name])}
          chosen={chosen.value}
          onChoose={(name) => (chosen.value = name)}
        />
        <CopyButton text={text} name="code" />
      </div>
      <pre class="code">{text}</pre>
    </div>
  )
}
