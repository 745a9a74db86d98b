import { useEffect } from 'preact/hooks'
import { CollectionEntry } from '../collections/collection-entry.tsx'
import { collections, collectionsFailure, refreshCollections } from '../collections/collections.ts'
import { Progress } from '../documents/bulk-bar.tsx'
import { bulkWork } from '../documents/bulk-work.ts'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'
import { may } from '../session.ts'

/** The collections with what can be done to each. */
export function CollectionsPage() {
  useEffect(() => void refreshCollections(), [])
  const listed = collections.value
  return (
    <>
      <div class="page-head">
        <h1>Collections</h1>
        <a class="button" href={href('documents')}>
          All documents
        </a>
      </div>
      <p class="hint">
        A document is in one collection. Chat and Search can be limited to one, and so can a{' '}
        {may('admin') ? <a href={href('keys')}>key</a> : 'key'}. To begin a new one, add documents
        under its name.
      </p>
      <ErrorNote message={collectionsFailure.value} />
      {bulkWork.value && <Progress />}
      {!listed && collectionsFailure.value === '' && <Skeleton rows={4} />}
      {listed?.length === 0 && <Empty title="No documents yet">Add some first.</Empty>}
      <ul class="collections">
        {listed?.map((each) => (
          <CollectionEntry key={each.name} collection={each} />
        ))}
      </ul>
    </>
  )
}
