/** A request as a command to paste; the key stays in the shell's variable `KEY`. */
export function curlOf(path: string, body: object, options = ''): string {
  // A quote within single quotes has to leave them for a moment.
  const json = JSON.stringify(body).replaceAll("'", "'\\''")
  return `curl ${options}${location.origin}${path} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '${json}'`
}

/** The same with the client package; the key stays in the environment. */
export function codeOf(call: 'query' | 'chat', body: object): string {
  return `import { AgentServer } from 'agent-server-client'

const client = new AgentServer({
  baseURL: '${location.origin}',
  apiKey: process.env.AGENT_SERVER_KEY,
})

${USES[call](`client.${call}(${JSON.stringify(body, null, 2)})`)}
`
}

const USES = {
  query: (expression: string) => `const { hits } = await ${expression}
for (const { score, title, text } of hits) console.log(score, title, text)`,
  chat: (expression: string) => `const { text, hits } = await ${expression}.result()
console.log(text)
hits.forEach(({ title }, index) => console.log(\`[\${index + 1}]\`, title))`,
}
