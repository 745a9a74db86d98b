import { AppError } from '../../errors.ts'
import type { ChatFrame } from '../../schemas/chat.ts'
import type { Chat } from '../chat/create-chat.ts'

/** Between two signs of life; clients give a call up that shows none. */
const PROGRESS_MILLISECONDS = 1_000

interface Question {
  question: string
  topK: number | undefined
}

/** The agent's answer and, below it, the sources that its numbers stand for. Throws AppError where the run fails. */
export async function askAgent(
  chat: Pick<Chat, 'frames'>,
  { question, topK }: Question,
  tell: (progress: number) => Promise<void>,
  signal: AbortSignal,
): Promise<string> {
  const messages = [{ role: 'user' as const, content: question }]
  let text = ''
  let told = performance.now()
  let progress = 0
  for await (const frame of chat.frames({ messages, topK, includeSteps: true }, signal)) {
    if (frame.type === 'text-delta') text += frame.text
    if (frame.type === 'done') return `${text}${sourcesOf(frame)}`
    progress += 1
    if (performance.now() - told < PROGRESS_MILLISECONDS) continue
    told = performance.now()
    await tell(progress)
  }
  throw new AppError('internal', 'The answer has no end')
}

type DoneFrame = Extract<ChatFrame, { type: 'done' }>

function sourcesOf({ hits, artifacts = [] }: DoneFrame): string {
  const sources = hits.map(({ title, url, documentId }, index) => {
    const source = [title, url, `document ${documentId}`].filter(Boolean).join(', ')
    return `[${index + 1}] ${source}`
  })
  const files = artifacts.map(({ name, mediaType, url }) => `${name} (${mediaType}): ${url}`)
  return [listOf('Sources', sources), listOf('Files', files)].join('')
}

function listOf(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n\n${title}:\n${lines.join('\n')}`
}
