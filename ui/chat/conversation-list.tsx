import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Conversation } from '../../packages/client/src/agent-server.ts'
import { attempt } from '../api.ts'
import { formatDate } from '../format.ts'
import { Button, bound, Field, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { href } from '../route.ts'
import { leaveConversation } from './answering.ts'
import { conversationId } from './conversation.ts'
import { groupByDay } from './conversation-groups.ts'
import {
  deleteConversation,
  type Listing,
  listFailure,
  ownConversations,
  readMore,
  refreshList,
  renameConversation,
  search,
  sharedConversations,
} from './conversations.ts'
import { exportConversation } from './export.ts'
import { ShareDialog } from './share-dialog.tsx'

const SEARCH_MS = 250

const titleOf = ({ title }: Conversation) => title ?? 'Untitled'

/** The conversations that the server keeps. */
export function ConversationList() {
  const managed = useSignal<Conversation | undefined>(undefined)
  useEffect(() => {
    const timer = setTimeout(() => void refreshList(), search.value === '' ? 0 : SEARCH_MS)
    return () => clearTimeout(timer)
  }, [search.value])
  // One with neither was begun for a question that the server did not take.
  const matches = ownConversations.items.value.filter(
    ({ last_item_id: last, title }) => last !== null || title !== null,
  )
  const shared = sharedConversations.items.value
  return (
    <>
      <input
        type="search"
        aria-label="Search conversations"
        placeholder="Search"
        {...bound(search)}
      />
      <ErrorNote message={listFailure.value} />
      {matches.length + shared.length === 0 && (
        <p class="hint">{search.value === '' ? 'No conversations yet.' : 'Nothing found.'}</p>
      )}
      {groupByDay(matches).map(({ name, conversations }) => (
        <section key={name} aria-label={name}>
          <h2 class="hint">{name}</h2>
          <ul>
            {conversations.map((each) => (
              <Entry key={each.id} conversation={each} onManage={() => (managed.value = each)} />
            ))}
          </ul>
        </section>
      ))}
      <More of={ownConversations} />
      {shared.length > 0 && (
        <section aria-label="Shared with me">
          <h2 class="hint">Shared with me</h2>
          <ul>
            {shared.map((each) => (
              <Entry key={each.id} conversation={each} />
            ))}
          </ul>
          <More of={sharedConversations} />
        </section>
      )}
      {managed.value && (
        <ManageDialog
          key={managed.value.id}
          conversation={managed.value}
          onClose={() => (managed.value = undefined)}
        />
      )}
    </>
  )
}

function More({ of }: { of: Listing }) {
  return of.nextPage.value === undefined ? null : (
    <button type="button" class="quiet" onClick={() => void readMore(of)}>
      Show more
    </button>
  )
}

interface EntryProps {
  conversation: Conversation
  /** Absent for one of somebody else. */
  onManage?: () => void
}

function Entry({ conversation, onManage }: EntryProps) {
  const { id, updated_at: changed } = conversation
  const title = titleOf(conversation)
  return (
    <li>
      <a
        href={href('chat', id)}
        aria-current={id === conversationId.value ? 'page' : undefined}
        title={`${title}, ${formatDate(new Date(changed * 1_000).toISOString())}`}
        dir="auto"
      >
        {title}
      </a>
      {onManage && (
        <Button
          icon="more"
          class="quiet"
          aria-label={`Rename, share, export or delete ${title}`}
          onClick={onManage}
        />
      )}
    </li>
  )
}

function ManageDialog({
  conversation,
  onClose,
}: {
  conversation: Conversation
  onClose: () => void
}) {
  const { id } = conversation
  const title = useSignal(titleOf(conversation))
  const failure = useSignal('')
  const isDeleting = useSignal(false)
  const isSharing = useSignal(false)
  const act = async (work: () => Promise<void>) => {
    if (await attempt(failure, work)) onClose()
  }
  const remove = async () => {
    await deleteConversation(id)
    if (id !== conversationId.value) return
    leaveConversation()
    location.hash = href('chat')
  }
  if (isSharing.value) return <ShareDialog id={id} onClose={onClose} />
  return (
    <Dialog title="Conversation" onClose={onClose}>
      <Form class="stack" onSubmit={() => act(() => renameConversation(id, title.value.trim()))}>
        <Field label="Title">
          <input dir="auto" maxLength={200} {...bound(title)} />
        </Field>
        <ErrorNote message={failure.value} />
        {isDeleting.value && (
          <p>
            The conversation will be deleted with all its versions and files. This cannot be undone.
          </p>
        )}
        <div class="dialog-foot">
          <Button icon="download" onClick={() => void act(() => exportConversation(conversation))}>
            Export
          </Button>
          <Button icon="share" onClick={() => (isSharing.value = true)}>
            Share
          </Button>
          <Button
            icon="delete"
            class="danger"
            onClick={() => {
              if (isDeleting.value) void act(remove)
              isDeleting.value = true
            }}
          >
            {isDeleting.value ? 'Delete for good' : 'Delete'}
          </Button>
          <Button icon="edit" type="submit" class="primary" disabled={title.value.trim() === ''}>
            Rename
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
