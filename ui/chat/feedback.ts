import { signal } from '@preact/signals'
import type { Feedback } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { tellTabs } from './other-tabs.ts'

export type Rating = Feedback['rating']

/** The feedback on the answers of the conversation that is shown, by the id of the answer. */
export const feedbackOf = signal<ReadonlyMap<string, Feedback>>(new Map())

/** Throws what the server says. */
export async function readFeedback(conversationId: string): Promise<ReadonlyMap<string, Feedback>> {
  const all = await Array.fromAsync(client.feedback.list({ conversationId }))
  return new Map(all.map((each) => [each.answerId, each]))
}

/** Throws what the server says. */
export async function rate(
  conversationId: string,
  answerId: string,
  rating: Rating,
  comment?: string,
): Promise<void> {
  const feedback = await client.feedback.give({
    conversationId,
    answerId,
    rating,
    comment: comment ?? null,
  })
  feedbackOf.value = new Map(feedbackOf.value).set(answerId, feedback)
  tellTabs(conversationId)
}

/** Throws what the server says. */
export async function withdraw({ id, answerId, conversationId }: Feedback): Promise<void> {
  await client.feedback.delete(id)
  const others = new Map(feedbackOf.value)
  others.delete(answerId)
  feedbackOf.value = others
  if (conversationId !== undefined) tellTabs(conversationId)
}
