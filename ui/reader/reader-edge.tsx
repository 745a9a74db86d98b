import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Share of the width of chat and reader, in percent. */
const MIN = 25
const MAX = 75
const STEP = 5
const share = signal(50)

const within = (percent: number) => Math.round(Math.min(Math.max(percent, MIN), MAX))

/** The edge of the reader, which is dragged or moved with the arrow keys. */
export function ReaderEdge() {
  const { value } = share
  useEffect(() => {
    const layout = document.querySelector<HTMLElement>('.chat-layout')
    layout?.style.setProperty('--reader-share', `${value / (100 - value)}fr`)
  }, [value])
  const drag = ({
    currentTarget,
    clientX,
    pointerId,
  }: PointerEvent & { currentTarget: Element }) => {
    const reader = currentTarget.closest('.reader')?.getBoundingClientRect()
    const chat = document.querySelector('.chat-main')?.getBoundingClientRect()
    if (!reader || !chat || !currentTarget.hasPointerCapture(pointerId)) return
    share.value = within(((reader.right - clientX) / (reader.width + chat.width)) * 100)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that is moved is no line
    <div
      role="separator"
      class="reader-edge"
      tabIndex={0}
      aria-label="Width of the document"
      aria-orientation="vertical"
      aria-valuenow={value}
      aria-valuemin={MIN}
      aria-valuemax={MAX}
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={drag}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') share.value = within(value + STEP)
        if (key === 'ArrowRight') share.value = within(value - STEP)
      }}
    />
  )
}
