import { computed, signal } from '@preact/signals'
import type { Document } from '../../packages/client/src/agent-server.ts'
import { attempt, client, messageOf } from '../api.ts'
import { addFiles, type ChosenFile, isOpen, type Upload, uploads } from '../documents/uploads.ts'
import { counted } from '../format.ts'
import { conversationId, ensureConversation, isReadOnly } from './conversation.ts'
import { refreshList } from './conversations.ts'
import { tellTabs } from './other-tabs.ts'

/** What a conversation takes. */
const MAX_FILES = 20

interface Listed {
  conversation: string
  documents: readonly Document[]
}

const fileList = signal<Listed | undefined>(undefined)

/** The documents that belong to the conversation that is shown, the oldest first. */
export const files = computed(() =>
  fileList.value?.conversation === conversationId.value ? (fileList.value?.documents ?? []) : [],
)
/** The files that are on their way to it, and those that were refused. */
export const arriving = computed(() =>
  uploads.value.filter(
    (one) => one.to?.conversation === conversationId.value && (isOpen(one) || isRefused(one)),
  ),
)
/** What went wrong with files, or became of them, in words. */
export const fileFailure = signal('')
export const fileNews = signal('')

export function clearFileNotes(): void {
  fileFailure.value = ''
  fileNews.value = ''
}

export const isRefused = ({ state, to }: Upload) => state === 'failed' && to !== undefined
export const isUnread = ({ status }: Document) => status === 'pending' || status === 'processing'
/** Whether a question would be sent before a file can be found. */
export const awaitsFiles = computed(() => arriving.value.some(isOpen) || files.value.some(isUnread))

/** Reads the files of the conversation that is shown. */
export async function refreshFiles(): Promise<void> {
  const conversation = conversationId.value
  if (conversation === undefined || isReadOnly.value) return
  try {
    const list = client.documents.list({ conversation, sort: 'createdAt' })
    const documents = await Array.fromAsync(list)
    fileList.value = { conversation, documents }
  } catch (error) {
    fileFailure.value = messageOf(error)
  }
}

/** Sends files to the conversation that is shown, or to a new one. */
export async function attach(chosen: readonly ChosenFile[]): Promise<void> {
  clearFileNotes()
  if (chosen.length === 0) {
    fileFailure.value = 'No files were found.'
    return
  }
  const room = Math.max(MAX_FILES - files.value.length - arriving.value.length, 0)
  const accepted = chosen.slice(0, room)
  if (accepted.length < chosen.length) {
    const skipped = counted(chosen.length - accepted.length, 'file')
    fileFailure.value = `${skipped} not added: a conversation takes at most ${MAX_FILES}. Remove some, keep them in the documents, or add a folder on the Documents page.`
  }
  const [first] = accepted
  if (!first) return
  try {
    const isNew = conversationId.value === undefined
    const conversation = await ensureConversation(first.file.name)
    const arrived = async () => {
      tellTabs(conversation)
      if (conversationId.value === conversation) await refreshFiles()
    }
    addFiles(accepted, { conversation, arrived })
    if (isNew) void refreshList()
  } catch (error) {
    fileFailure.value = messageOf(error)
  }
}

/** Lets every question find a file, which then stays when the conversation is deleted. */
export const keepFile = ({ id, title }: Document) =>
  change(`${title ?? id} is now in the documents.`, () =>
    client.documents.patch(id, { conversation: null }),
  )

export const removeFile = ({ id, title }: Document) =>
  change(`${title ?? id} was removed.`, () => client.documents.delete(id))

async function change(news: string, act: () => PromiseLike<unknown>): Promise<void> {
  const conversation = conversationId.value
  clearFileNotes()
  const hasChanged = await attempt(fileFailure, act)
  if (conversation !== undefined) tellTabs(conversation)
  await refreshFiles()
  if (hasChanged) fileNews.value = news
}
