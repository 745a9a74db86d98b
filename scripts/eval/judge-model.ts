import { createJudge, type Judge } from '@agent-server/evaluation'
import { z } from 'zod'

interface JudgeModel {
  model: string
  /** The address before `/chat/completions`. */
  url: string
  key: string
}

const DEADLINE_MS = 300_000
const Completion = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
})

/** A judge behind any OpenAI-compatible server. */
export function judgeAt({ model, url, key }: JudgeModel): Judge {
  return createJudge(async (rules, prompt) => {
    const response = await fetch(`${url.replace(/\/$/, '')}/chat/completions`, {
      method: 'POST',
      signal: AbortSignal.timeout(DEADLINE_MS),
      headers: {
        'content-type': 'application/json',
        ...(key && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        model,
        temperature: 0,
        messages: [
          { role: 'system', content: rules },
          { role: 'user', content: prompt },
        ],
      }),
    })
    if (!response.ok) throw new Error(`The judge answered ${response.status}`)
    return Completion.parse(await response.json()).choices[0]?.message.content ?? ''
  })
}
