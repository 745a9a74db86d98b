import { type Signal, signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { AgentServerError, type Document } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { Choice } from '../parts/controls.tsx'
import { Status } from '../parts/notes.tsx'
import { type CitedPage, findCitedPage } from './cited-page.ts'
import { DocumentText, type PlaceInDocument } from './document-text.tsx'
import { NotShownError, type OriginalKind, openOriginal, originalKind } from './original.ts'
import type { Pdf } from './pdf.ts'
import { PageButtons, PdfPage } from './pdf-page.tsx'
import { Picture } from './picture.tsx'
import { Zoom } from './zoom.tsx'

const NAMES: Record<OriginalKind, string> = { pdf: 'Page', picture: 'Picture' }
const DAMAGED = 'The original cannot be shown: it is damaged, or this browser cannot draw it.'

/** What was chosen last, for the next document. */
const isTextChosen = signal(false)

/** A document at a place: the page of a PDF or the picture that it is, or its text. */
export function DocumentView(props: PlaceInDocument) {
  const { documentId } = props.place
  const document = useSignal<Document | 'unknown' | undefined>(undefined)
  useEffect(() => {
    client.documents.get(documentId).then(
      (found) => {
        document.value = found
      },
      () => {
        // Its text says why.
        document.value = 'unknown'
      },
    )
  }, [])
  if (document.value === undefined) return <Status tone="busy">Opening the document</Status>
  const kind = document.value === 'unknown' ? undefined : originalKind(document.value)
  if (document.value === 'unknown' || !kind) return <DocumentText {...props} />
  return <WithOriginal {...props} document={document.value} kind={kind} />
}

interface OriginalOf extends PlaceInDocument {
  document: Document
  kind: OriginalKind
}

function WithOriginal(props: OriginalOf) {
  const failure = useSignal('')
  const number = useSignal(1)
  const zoom = useSignal(1)
  const isText = isTextChosen.value || failure.value !== ''
  const fail = (error: unknown) => {
    failure.value = reasonOf(error)
  }
  const choose = (text: boolean) => {
    failure.value = ''
    isTextChosen.value = text
  }
  const original = useOriginal(props, !isText, number, fail)
  return (
    <div class="stack original">
      <div class="original-bar">
        <Choice
          legend="Show"
          options={[
            [false, NAMES[props.kind]],
            [true, 'Text'],
          ]}
          chosen={isText}
          onChoose={choose}
        />
        {!isText && original && 'pdf' in original && (
          <PageButtons pages={original.pdf.pages} number={number} />
        )}
        {!isText && original && <Zoom value={zoom} />}
      </div>
      <div role="status" class="alert-place">
        {failure.value !== '' && <p class="note">{failure.value} This is its text.</p>}
      </div>
      {isText && <DocumentText place={props.place} quotes={props.quotes} cited={props.cited} />}
      {!isText && !original && <Status tone="busy">Opening the original</Status>}
      {!isText && original && 'pdf' in original && (
        <PdfPage
          {...original}
          number={number.value}
          zoom={zoom.value}
          isCited={number.value === original.first}
          onFailure={fail}
        />
      )}
      {!isText && original && 'picture' in original && (
        <Picture
          address={original.picture}
          name={props.document.file?.name ?? ''}
          zoom={zoom.value}
          onFailure={() => fail(undefined)}
        />
      )}
    </div>
  )
}

function reasonOf(error: unknown): string {
  const isSaid = error instanceof NotShownError || error instanceof AgentServerError
  return isSaid ? messageOf(error) : DAMAGED
}

/** What is opened: a PDF with the page to begin at, or a picture. */
type Opened = { picture: string } | ({ pdf: Pdf } & CitedPage)

/** Opens the original once it is wanted; undefined until it is open. */
function useOriginal(
  props: OriginalOf,
  isWanted: boolean,
  number: Signal<number>,
  onFailure: (error: unknown) => void,
): Opened | undefined {
  const opened = useSignal<Opened | undefined>(undefined)
  useEffect(() => {
    if (!isWanted || opened.value) return
    let isHere = true
    open(props).then(
      (original) => {
        if (!isHere) return
        if ('pdf' in original) number.value = original.first
        opened.value = original
      },
      (error: unknown) => {
        if (isHere) onFailure(error)
      },
    )
    return () => {
      isHere = false
    }
  }, [isWanted])
  return opened.value
}

async function open(props: OriginalOf): Promise<Opened> {
  const original = await openOriginal(props.document)
  if ('picture' in original) return original
  return { ...original, ...(await findCitedPage(original.pdf, props)) }
}
