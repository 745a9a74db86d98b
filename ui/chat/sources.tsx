import type { Hit } from '../../packages/client/src/agent-server.ts'
import { counted } from '../format.ts'
import { placeOf } from '../parts/chunk-facts.tsx'
import { openReader, titleOf } from '../reader/reader.tsx'
import type { Turn } from './turns.ts'

/** The cited passages first; those that were only found are folded, except where none has the answer. */
export function Sources({ turn: { hits, citations, abstained = false } }: { turn: Turn }) {
  if (hits.length === 0) return null
  const numbers = new Set(citations.map(({ number }) => number))
  const cited = hits.filter((_, index) => numbers.has(index + 1))
  const others = hits.filter((_, index) => !numbers.has(index + 1))
  if (abstained || cited.length === 0) {
    return (
      <details class="settings" open={abstained}>
        <summary>
          {abstained
            ? 'Not found in your documents. Nearest:'
            : `${counted(hits.length, 'passage')} found, none cited`}
        </summary>
        <SourceList all={hits} shown={hits} />
      </details>
    )
  }
  return (
    <details class="settings">
      <summary>{counted(cited.length, 'source')} cited</summary>
      <SourceList all={hits} shown={cited} />
      {others.length > 0 && (
        <details class="settings">
          <summary>{counted(others.length, 'other passage')} found</summary>
          <SourceList all={hits} shown={others} />
        </details>
      )}
    </details>
  )
}

/** With the numbers that the answer cites them by. */
function SourceList({ all, shown }: { all: readonly Hit[]; shown: readonly Hit[] }) {
  return (
    <ol class="sources">
      {shown.map((hit) => (
        <li key={hit.id}>
          <span class="place">{all.indexOf(hit) + 1}</span>
          <button
            type="button"
            class="link"
            dir="auto"
            onClick={({ currentTarget }) => openReader({ hit, quotes: [] }, currentTarget)}
          >
            {titleOf(hit)}
          </button>
          <span class="hint">{placeOf(hit)}</span>
        </li>
      ))}
    </ol>
  )
}
