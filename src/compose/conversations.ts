import type { OpenedStore } from '@agent-server/stores'
import type { Services } from '../app.ts'
import { Answers } from '../conversations/answers.ts'
import { Conversations } from '../conversations/conversations.ts'
import { createFeedback } from '../conversations/feedback.ts'
import { createWithholding } from '../conversations/withheld.ts'
import { ITEM_FORM } from '../dialects/responses/items.ts'
import { StoredResponses } from '../dialects/responses/stored-responses.ts'
import type { CorpusFor } from '../documents/corpus-access.ts'
import { createHiddenDocuments } from '../documents/hidden-documents.ts'
import type { AgentSide } from './agent.ts'

interface Parts {
  store: OpenedStore
  agent: AgentSide['agent']
  linkFor: AgentSide['artifactLinks']['linkFor']
  corpusFor: CorpusFor
  readFiles: Services['agent']['readFiles']
  /** Deletes the documents of a conversation that was deleted. */
  conversationDeleted: (id: string) => Promise<void>
}

/** Conversations with their answers, stored responses, and what people think of both. */
export function composeConversations({
  store,
  agent,
  linkFor,
  corpusFor,
  readFiles,
  conversationDeleted,
}: Parts) {
  const { conversations: conversationStore, feedback: feedbackStore } = store
  const hiddenDocuments = createHiddenDocuments(store)
  const withholding = createWithholding(hiddenDocuments, linkFor)
  const conversations = new Conversations(conversationStore, withholding, conversationDeleted)
  const storedResponses = new StoredResponses(store.responses, hiddenDocuments)
  return {
    conversations,
    storedResponses,
    answers: new Answers({
      agent,
      corpusFor,
      readFiles,
      conversationStore,
      conversations,
      itemForm: ITEM_FORM,
      withholding,
    }),
    feedback: createFeedback({ feedbackStore, conversationStore, responses: storedResponses }),
  }
}
