import { expect, it } from 'vitest'
import { createConversationDocuments } from '../../src/documents/conversation-documents.ts'

const CONVERSATION = { id: 'conv_owls', owner: undefined }
const CONVERSATION_ROW = {
  ...CONVERSATION,
  title: undefined,
  metadata: {},
  lastItem: undefined,
  access: undefined,
  createdAt: 0,
  updatedAt: 0,
}

it('A conversation lets a hundred documents wait for one, and refuses more until there is room', async () => {
  const { add } = createConversationDocuments({
    documents: { list: async () => ({ documents: [], total: 0 }) },
    conversations: {
      find: async () => CONVERSATION_ROW,
    },
  })
  const gate = Promise.withResolvers<void>()
  const order: number[] = []
  const send = (index: number) =>
    add(CONVERSATION, { text: 'Owls.' }, async () => {
      await gate.promise
      order.push(index)
    })
  const taken = Array.from({ length: 101 }, (_, index) => send(index))
  await expect(send(101)).rejects.toMatchObject({ code: 'too_much_at_once', retryAfter: 5 })
  gate.resolve()
  await Promise.all(taken)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  await send(102)
  expect(order).toHaveLength(102)
})
