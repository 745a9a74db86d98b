import { computed } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { href, routeQuery } from '../route.ts'
import { allTurns, leaf, turns } from './conversation.ts'
import { leafBelow, type Turn } from './turns.ts'

/** The turn that the address names. */
export const linkedTurn = computed(
  () => new URLSearchParams(routeQuery.value).get('turn') ?? undefined,
)

/** Whether the address names a turn that the conversation that is shown does not have. */
export const isLinkBroken = computed(
  () =>
    linkedTurn.value !== undefined &&
    turns.value.length > 0 &&
    !allTurns.value.some(({ id }) => id === linkedTurn.value),
)

/** What opens a conversation at one of its turns, for whoever may read it. */
export const linkTo = (conversation: string, { id }: Turn) =>
  `${location.origin}${location.pathname}${href('chat', conversation)}?turn=${encodeURIComponent(id)}`

/** Scrolls once to the turn that the address names; in another version, that one is shown. */
export function useLinkedTurn(): void {
  const seen = useRef<string | undefined>(undefined)
  const { value: named } = linkedTurn
  const { value: shown } = turns
  useEffect(() => {
    if (named === undefined || named === seen.current) return
    if (!shown.some(({ id }) => id === named)) {
      if (allTurns.value.some(({ id }) => id === named))
        leaf.value = leafBelow(allTurns.value, named)
      return
    }
    seen.current = named
    const turn = document.querySelector<HTMLElement>('.turn.linked')
    turn?.focus({ preventScroll: true })
    const scroll = () => turn?.scrollIntoView({ block: 'start' })
    scroll()
    // What is near is only laid out there.
    requestAnimationFrame(scroll)
  }, [named, shown])
}
