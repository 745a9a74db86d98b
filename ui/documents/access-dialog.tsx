import { useSignal } from '@preact/signals'
import type { Document } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { AccessList, entriesOf, principalName, useAccessDraft } from '../parts/access-list.tsx'
import { Button, Choice, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'

/** Who may read a document, in words. */
export function readersOf({ access }: Pick<Document, 'access'>): string {
  if (!access) return 'Whoever may read its collection'
  const names = [...access.map(principalName), 'whoever added it', 'administrators']
  return `Only ${new Intl.ListFormat('en').format(names)}`
}

const CHOICES = [
  [false, 'As its collection'],
  [true, 'Only these'],
] as const

interface Properties {
  document: Document
  onChanged: () => void
  onClose: () => void
}

/** Changes who may read a document. */
export function DocumentAccessDialog({ document, onChanged, onClose }: Properties) {
  const isOwn = useSignal(document.access !== undefined)
  const draft = useAccessDraft(document.access)
  const failure = useSignal('')
  const save = async () => {
    const access = isOwn.value ? entriesOf(draft) : null
    const expected = { access: document.access ?? null }
    const patch = () => client.documents.patch(document.id, { access, expected })
    if (!(await attempt(failure, patch))) return
    onChanged()
    onClose()
  }
  return (
    <Dialog title="Who may read this document" onClose={onClose}>
      <Form class="stack" onSubmit={save}>
        <Choice
          legend="Access"
          options={CHOICES}
          chosen={isOwn.value}
          onChoose={(chosen) => (isOwn.value = chosen)}
        />
        {isOwn.value ? (
          <AccessList legend="People and groups" draft={draft} />
        ) : (
          <p class="hint">Whoever may read its collection may read it, too.</p>
        )}
        <p class="hint">
          Whoever added it, administrators, and API keys that include its collection can always read
          it.
        </p>
        <ErrorNote message={failure.value} />
        <div class="dialog-foot">
          <Button icon="cancel" onClick={onClose}>
            Cancel
          </Button>
          <Button icon="save" type="submit" class="primary">
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
