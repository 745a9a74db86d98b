import type { StoredConversation, StoredItem } from '@agent-server/stores'
import { readItem } from '../../conversations/answer-record.ts'
import type { Conversation, ConversationItem } from './schema.ts'

/** A conversation as the protocol has it. */
export function toConversation(stored: StoredConversation & { isShared?: true }): Conversation {
  const { id, title = null, metadata, lastItem = null, access, isShared: shared } = stored
  const { createdAt, updatedAt } = stored
  return {
    id,
    object: 'conversation',
    created_at: Math.floor(createdAt / 1_000),
    updated_at: Math.floor(updatedAt / 1_000),
    metadata,
    title,
    last_item_id: lastItem,
    ...(access?.length && { access: [...access] }),
    ...(shared && { shared }),
  }
}

/** An item as it is listed. */
export function toItem(stored: StoredItem): ConversationItem {
  return { type: 'message', ...readItem(stored), id: stored.id, parent_id: stored.parent ?? null }
}
