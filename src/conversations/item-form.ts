import type { ModelMessage } from '@agent-server/models'
import type { NewItem, StoredItem } from '@agent-server/stores'
import type { SentFile } from '@agent-server/wire'

/** How items are written and read: they are stored in the form of the protocol in which clients send and list them. */
export interface ItemForm {
  /** A question with images as URLs. */
  toQuestion(text: string, images: readonly string[]): NewItem
  toMessages(items: readonly StoredItem[]): ModelMessage[]
  /** The files in them. Throws AppError `invalid_request`. */
  toFiles(items: readonly StoredItem[]): SentFile[]
}
