import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from './controls.tsx'
import type { IconName } from './icon.tsx'

const SHOWN_MS = 2_000

/** Copies a text; `text` may have to be fetched first. */
export function CopyButton({
  text,
  label = 'Copy',
  name,
  icon = 'copy',
}: {
  text: string | (() => string | Promise<string>)
  label?: string
  /** The copied content, for screen readers. */
  name?: string
  icon?: IconName
}) {
  const state = useSignal<'' | 'Copied' | 'Not copied'>('')
  useEffect(() => {
    if (state.value === '') return
    const timer = setTimeout(() => {
      state.value = ''
    }, SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state.value])

  const copy = async () => {
    try {
      await copyText(typeof text === 'string' ? text : await text())
      state.value = 'Copied'
    } catch {
      state.value = 'Not copied'
    }
  }
  return (
    <Button
      icon={state.value === 'Copied' ? 'done' : icon}
      class="quiet"
      onClick={() => void copy()}
      aria-label={name && `${label} ${name}`}
    >
      <span aria-live="polite">{state.value || label}</span>
    </Button>
  )
}

/** Over plain HTTP on other machines browsers have no clipboard for pages, but still the command of old. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (!isDone) throw new Error('The browser does not allow pages to copy text')
}
