import { z } from 'zod'
import type { Script } from '../scripted-upstream.ts'
import { chunk, DONE, streamReply } from '../upstream-replies.ts'

/** Of an answer, as a quick model sends it. */
const PART = 2_000
const Part = z.looseObject({ text: z.string().default('') })
const Content = z.union([z.string(), z.array(Part)]).nullish()
const Request = z.looseObject({ messages: z.array(z.looseObject({ content: Content })) })

/** Says what it was asked, so that every text is an answer, too. */
export const echo: Script = ({ body }) => {
  const content = Request.safeParse(body).data?.messages.at(-1)?.content ?? ''
  const text = typeof content === 'string' ? content : content.map((each) => each.text).join('')
  const parts = Array.from({ length: Math.ceil(text.length / PART) }, (_, part) =>
    chunk({ content: text.slice(part * PART, (part + 1) * PART) }),
  )
  return streamReply(...parts, chunk({}, 'stop'), DONE)
}
