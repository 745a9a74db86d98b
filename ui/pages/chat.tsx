import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import {
  isGone,
  leaveConversation,
  leaveDeleted,
  openConversation,
  openFailure,
  refresh,
  stop,
} from '../chat/answering.ts'
import { refreshAgents } from '../chat/chosen-agent.tsx'
import { Composer } from '../chat/composer.tsx'
import { conversationId, isAnswering, isReadOnly, opening, turns } from '../chat/conversation.ts'
import { ConversationList } from '../chat/conversation-list.tsx'
import { refreshList } from '../chat/conversations.ts'
import { refreshFiles } from '../chat/files.ts'
import { findRequests } from '../chat/find.ts'
import { FindBar } from '../chat/find-bar.tsx'
import { isLinkBroken, useLinkedTurn } from '../chat/linked-turn.ts'
import { watchTabs } from '../chat/other-tabs.ts'
import { add } from '../chat/pictures.tsx'
import { ShareDialog } from '../chat/share-dialog.tsx'
import { Suggestions } from '../chat/suggestions.tsx'
import { TurnView } from '../chat/turn-view.tsx'
import { spokenState } from '../chat/turns.ts'
import { refreshCollections } from '../collections/collections.ts'
import { DropPlace } from '../documents/drop-place.tsx'
import { Button } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useEscape } from '../parts/escape.ts'
import { Empty, ErrorNote, Status } from '../parts/notes.tsx'
import { keepPlace, Reader, reading } from '../reader/reader.tsx'
import { href, replaceRoute } from '../route.ts'
import { readJudgedQuestions } from '../search/judged.ts'

/** How near to the end of the page still counts as reading along, in pixels. */
const NEAR_END = 160

/** Exactly `/chat`, in conversations that the server stores. */
export function ChatPage({ id }: { id?: string | undefined }) {
  useShown(id)
  useEscape(() => void stop(), { isOpen: isAnswering.value, isLast: true })
  useReadingAlong()
  // After what scrolls to the end.
  useLinkedTurn()
  const cited = reading.value
  useLayoutEffect(keepPlace, [cited])
  const isNew = turns.value.length === 0 && opening.value === undefined
  const isEmpty = isNew && openFailure.value === ''
  return (
    <div class={cited ? 'chat-layout with-reader' : 'chat-layout'}>
      <aside class="conversations" aria-label="Conversations">
        <NewConversation />
        <ConversationList />
      </aside>
      <div class={isEmpty ? 'chat-main empty-chat' : 'chat-main'}>
        <Head id={id} />
        {findRequests.value > 0 && turns.value.length > 0 && <FindBar />}
        <ErrorNote message={openFailure.value} />
        {isLinkBroken.value && (
          <p class="note">The link leads to a message that is not in this conversation.</p>
        )}
        {opening.value !== undefined && <Status tone="busy">Opening the conversation</Status>}
        {isEmpty && (
          <Empty title="Ask about your documents">
            <p>
              Answers cite the passages they are based on, so{' '}
              <a href={href('documents')}>add documents</a>, or drop files here for this
              conversation only. The server keeps your conversations.
            </p>
          </Empty>
        )}
        <div class="turns">
          {turns.value.map((turn, place) => (
            <TurnView key={turn.id} turn={turn} place={place} />
          ))}
        </div>
        <p class="visually-hidden" role="status">
          {spokenState(turns.value.at(-1))}
        </p>
        <Continue />
        {isEmpty && <Suggestions />}
      </div>
      {cited && <Reader key={`${cited.hit.id} ${cited.quotes.join()}`} {...cited} />}
    </div>
  )
}

/** Where the conversation goes on, if the reader may continue it. */
function Continue() {
  if (isReadOnly.value) {
    return (
      <p class="note">
        Somebody shares this conversation with you. You can read it, but not continue it.
      </p>
    )
  }
  return (
    <>
      <DropPlace
        label="Drop to add to this conversation"
        onDropped={(dropped) => void add(dropped)}
      />
      <Composer key={conversationId.value ?? 'new'} />
    </>
  )
}

function NewConversation({ isNarrow = false }: { isNarrow?: boolean }) {
  return (
    <Button
      icon="ask"
      class={isNarrow ? 'quiet only-narrow' : 'new-conversation'}
      aria-label="New conversation"
      disabled={conversationId.value === undefined && openFailure.value === ''}
      onClick={() => {
        leaveConversation()
        location.hash = href('chat')
      }}
    >
      {isNarrow ? 'New' : 'New conversation'}
    </Button>
  )
}

function Head({ id }: { id: string | undefined }) {
  const isListed = useSignal(false)
  const isSharing = useSignal(false)
  const shown = turns.value.length > 0 && !isReadOnly.value ? conversationId.value : undefined
  const close = () => {
    isListed.value = false
  }
  useEffect(close, [id])
  return (
    <div class="page-head">
      <h1>Chat</h1>
      <div class="row tight">
        <Button
          icon="conversations"
          class="quiet only-narrow"
          onClick={() => (isListed.value = true)}
        >
          Conversations
        </Button>
        <NewConversation isNarrow />
        {turns.value.length > 0 && (
          <Button
            icon="search"
            class="quiet"
            about="in this conversation"
            onClick={() => (findRequests.value += 1)}
          >
            Find
          </Button>
        )}
        {shown !== undefined && (
          <Button icon="share" class="quiet" onClick={() => (isSharing.value = true)}>
            Share
          </Button>
        )}
      </div>
      {isSharing.value && shown !== undefined && (
        <ShareDialog id={shown} onClose={() => (isSharing.value = false)} />
      )}
      {isListed.value && (
        <Dialog title="Conversations" onClose={close}>
          <div class="conversations">
            <ConversationList />
          </div>
        </Dialog>
      )}
    </div>
  )
}

/** Shows the conversation of the address, or the one that was shown last; and what other tabs add to it. */
function useShown(id: string | undefined): void {
  useEffect(() => {
    const shown = conversationId.value
    if (id === undefined) {
      if (shown !== undefined) replaceRoute('chat', shown)
    } else if (id !== shown) void openConversation(id)
    else void refresh(id).catch(() => undefined)
  }, [id])
  useEffect(() => {
    void readJudgedQuestions()
    void refreshCollections()
    // A failure shows with the question.
    void refreshAgents().catch(() => undefined)
  }, [])
  useEffect(
    () =>
      watchTabs((changed) => {
        const shown = conversationId.value
        void refreshList()
        if (shown === undefined || (changed !== undefined && changed !== shown)) return
        void refreshFiles()
        refresh(shown).catch((error: unknown) => {
          if (isGone(error)) leaveDeleted(shown)
        })
      }),
    [],
  )
}

/** Scrolls to a new question and with an answer that grows, unless somebody has scrolled away from its end. */
function useReadingAlong(): void {
  const isAtEnd = useRef(true)
  /** Where the page was scrolled to. */
  const before = useRef(window.scrollY)
  const scrollToEnd = () => {
    window.scrollTo(0, document.documentElement.scrollHeight)
    // What scrolls back at once, such as a link to a turn, is told in one event with this.
    before.current = window.scrollY
  }
  // Charts and formulas arrive after the text. A change of the width is no growth.
  useEffect(() => {
    const element = document.querySelector('.turns')
    if (!element) return
    let width = element.clientWidth
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === width && isAtEnd.current) scrollToEnd()
      width = element.clientWidth
    })
    observer.observe(element)
    // What somebody unfolds or previews is read from its beginning.
    const unfold = ({ target }: Event) => {
      if (target instanceof Element && target.closest('summary, [aria-pressed]'))
        isAtEnd.current = false
    }
    element.addEventListener('click', unfold)
    return () => {
      observer.disconnect()
      element.removeEventListener('click', unfold)
    }
  }, [])
  const last = useRef(turns.value.at(-1)?.id)
  useEffect(() => {
    const look = () => {
      const { scrollHeight, clientHeight } = document.documentElement
      const { scrollY } = window
      const isNear = scrollY + clientHeight > scrollHeight - NEAR_END
      // What has grown since the page scrolled to its end has taken nobody away from it.
      if (isNear || scrollY < before.current) isAtEnd.current = isNear
      before.current = scrollY
    }
    window.addEventListener('scroll', look, { passive: true })
    return () => window.removeEventListener('scroll', look)
  }, [])
  useEffect(() => {
    const newest = turns.value.at(-1)?.id
    // A new question scrolls to the answer, wherever the page was scrolled to.
    if (newest !== last.current) isAtEnd.current = true
    last.current = newest
    if (isAtEnd.current) scrollToEnd()
  }, [turns.value])
}
