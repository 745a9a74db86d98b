import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { attempt, client } from '../api.ts'
import { AccessList, entriesOf, useAccessDraft } from '../parts/access-list.tsx'
import { Button, Form } from '../parts/controls.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'

/** Says who may read a conversation, and has the link to it. */
export function ShareDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const draft = useAccessDraft()
  const isRead = useSignal(false)
  const before = useSignal<readonly string[]>([])
  const failure = useSignal('')
  useEffect(() => {
    void attempt(failure, async () => {
      draft.entries.value = (await client.conversations.get(id)).access ?? []
      before.value = draft.entries.value
      isRead.value = true
    })
  }, [])
  const save = async () => {
    const change = { access: entriesOf(draft), expected: { access: [...before.value] } }
    if (await attempt(failure, () => client.conversations.update(id, change))) onClose()
  }
  return (
    <Dialog title="Share conversation" onClose={onClose}>
      <Form class="stack" onSubmit={save}>
        {isRead.value && <AccessList legend="Who may read it" draft={draft} />}
        {!isRead.value && failure.value === '' && <Skeleton rows={2} />}
        <p class="hint">
          They find it under “Shared with me”, or by its link, and see what is added later, too. Of
          documents that they may not read themselves, they see no passages.
        </p>
        <ErrorNote message={failure.value} />
        <div class="dialog-foot">
          <CopyButton
            label="Copy link"
            icon="link"
            text={`${location.origin}${location.pathname}${href('chat', id)}`}
          />
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="save" type="submit" class="primary" disabled={!isRead.value}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
