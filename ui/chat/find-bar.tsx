import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { formatNumber } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { useEscape } from '../parts/escape.ts'
import { conversationId, turns } from './conversation.ts'
import {
  type FoundWords,
  findInTurns,
  findRequests,
  findWords,
  MAX_MATCHES,
  markFound,
  scrollToFound,
  searches,
} from './find.ts'

/** Longer than between two letters. */
const REST_MS = 150
/** An answer that grows is searched at most so often. */
const AGAIN_MS = 500

/** Finds words in the whole conversation that is shown; the browser's own search knows no part that is not drawn. */
export function FindBar() {
  const bar = useRef<HTMLElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const text = useSignal('')
  const { found, place, step } = useMatches()
  const close = () => (findRequests.value = 0)
  useEscape(close, { within: bar })
  // Before it is painted: who types at once loses no letter.
  useLayoutEffect(() => {
    const before = document.activeElement
    const { current: element } = bar
    return () => {
      findWords.value = ''
      const { activeElement: now } = document
      // Leaves the focus with whoever writes elsewhere by now.
      if (now !== document.body && !element?.contains(now)) return
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    }
  }, [])
  useLayoutEffect(() => field.current?.focus({ preventScroll: true }), [findRequests.value])
  // Another conversation is another search.
  useEffect(() => close, [conversationId.value])
  useEffect(() => {
    const timer = setTimeout(() => (findWords.value = text.value), REST_MS)
    return () => clearTimeout(timer)
  }, [text.value])
  const count = found.length
  return (
    <search
      ref={bar}
      class="find-bar"
      aria-label="Find in this conversation"
      onKeyDown={(event) => {
        const isStep = event.key === 'Enter' && event.target === field.current
        if (!isStep || event.isComposing) return
        event.preventDefault()
        step(event.shiftKey ? -1 : 1)
      }}
    >
      <input
        ref={field}
        type="search"
        aria-label="Find in this conversation"
        placeholder="Find in this conversation"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <span class="hint" role="status">
        {findWords.value.trim() !== '' && wordsFor(place, count)}
      </span>
      <Button
        icon="previous"
        class="quiet icon-only"
        aria-label="Previous match"
        disabled={count === 0}
        onClick={() => step(-1)}
      />
      <Button
        icon="next"
        class="quiet icon-only"
        aria-label="Next match"
        disabled={count === 0}
        onClick={() => step(1)}
      />
      <Button icon="cancel" class="quiet icon-only" aria-label="Close the search" onClick={close} />
    </search>
  )
}

/** The matches on the page, and the current one. */
function useMatches() {
  const found = useSignal<readonly FoundWords[]>([])
  const place = useSignal(0)
  /** From which turn on the first match is shown. */
  const from = useRef(0)
  const { value: words } = findWords
  useEffect(() => {
    from.current = firstInSight()
    return () => markFound([], undefined)
  }, [])
  const show = (next: number) => {
    place.value = next
    const match = found.value[next]
    if (match) scrollToFound(match)
  }
  useEffect(() => {
    found.value = findInTurns(document.querySelectorAll('.turns > .turn'), words)
    show(
      Math.max(
        found.value.findIndex(({ turn }) => turn >= from.current),
        0,
      ),
    )
  }, [words])
  // A growing answer does not change the current match.
  useEffect(() => {
    found.value = findInTurns(document.querySelectorAll('.turns > .turn'), words)
    if (found.value.length <= place.value) place.value = 0
  }, [searches.value])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      searches.value += 1
    }, AGAIN_MS)
  }, [turns.value])
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => markFound(found.value, found.value[place.value]), [found.value, place.value])
  const step = (by: number) => {
    const { length } = found.value
    if (length === 0) return
    show((place.value + by + length) % length)
    from.current = found.value[place.value]?.turn ?? 0
  }
  return { found: found.value, place: place.value, step }
}

function wordsFor(place: number, count: number): string {
  if (count === 0) return 'Not found'
  const all = count === MAX_MATCHES ? `${formatNumber(count)} or more` : formatNumber(count)
  return `${formatNumber(place + 1)} of ${all}`
}

/** The place of the first turn that is seen, of which at least the end is. */
const firstInSight = () =>
  [...document.querySelectorAll('.turns > .turn')].findIndex(
    (turn) => turn.getBoundingClientRect().bottom > 0,
  )
